"""Grants: what a role may do, statement by statement. A resource that is a pattern has a reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aws_cdk import Acknowledgment, CfnResource, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Actions on resources under conditions. `wildcard` says why a resource is a pattern, if one is."""

    actions: Iterable[str]
    resources: tuple[str, ...]
    conditions: Mapping[str, Any] = field(default_factory=dict)
    wildcard: str = ""

    def statement(self) -> iam.PolicyStatement:
        """The grant as IAM has it."""
        conditions = {
            operator: {key: list(value) if isinstance(value, tuple) else value for key, value in keys.items()}
            for operator, keys in self.conditions.items()
        }
        return iam.PolicyStatement(
            actions=sorted(self.actions), resources=list(self.resources), conditions=conditions or None
        )


def give(role: iam.Role, grants: Iterable[Grant]) -> IConstruct:
    """Grants these to a role, and acknowledges each pattern among the resources with its reason.

    The policy that says so is given back: what works by the role depends on it.
    ValueError for a pattern without one, and for a pattern of actions, which nothing needs.
    """
    for grant in grants:
        role.add_to_policy(grant.statement())
        if any("*" in action for action in grant.actions):
            raise ValueError(f"{sorted(grant.actions)} has a pattern: name the actions.")
        acknowledge_patterns(role, grant.resources, grant.wildcard)
    return role.node.find_child("DefaultPolicy")


def depends_on(construct: IConstruct, policy: IConstruct) -> None:
    """Makes a construct's resource wait for its role's policy. It does not wait for what it names anyway."""
    resource, waited_for = construct.node.default_child, policy.node.default_child
    if not isinstance(resource, CfnResource) or not isinstance(waited_for, CfnResource):
        raise TypeError(f"{construct.node.path} or {policy.node.path} has no resource of its own.")
    resource.add_override("DependsOn", [Stack.of(resource).get_logical_id(waited_for)])


def acknowledge_patterns(role: iam.Role, resources: Iterable[str], reason: str) -> None:
    """Tells cdk-nag why resources of a role's policy are patterns. ValueError if no reason is given."""
    for resource in resources:
        flat = _flat(Stack.of(role).resolve(resource))
        if "*" in flat:
            if not reason:
                raise ValueError(f"{flat} is a pattern: say why the grant has no narrower resource.")
            acknowledge(role, f"AwsSolutions-IAM5[Resource::{flat}]", reason)


def acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    """Suppresses one finding of cdk-nag, for one construct, with the reason."""
    Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))


def _flat(resource: Any) -> str:
    """A resolved resource as cdk-nag writes it in its findings."""
    match resource:
        case str():
            return resource
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(_flat(part) for part in parts)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"<{name}.{attribute}>"
        case {"Ref": str(name)}:
            return f"<{name}>"
        case _:
            raise ValueError(f"{resource} cannot be named in a finding.")
