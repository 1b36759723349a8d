"""Owners: who made a volume and would undo a change of it, told by the tags that each tool leaves."""

from collections.abc import Mapping
from typing import Final

from plimsoll.clouds.common.terraform_owner import known_details, terraform_owner
from plimsoll.model.volume import BY_HAND, Owner, OwnerKind

_CLAIM: Final = "kubernetes.io/created-for/pvc/name"
_CLUSTER_PREFIX: Final = "kubernetes.io/cluster/"
_SERVICES: Final = {"ecs": "Amazon ECS"}
"""The names of services that attach volumes for their own resources, by the service of the resource's ARN."""


def owner_of(
    tags: Mapping[str, str], host_tags: Mapping[str, str], operator: str | None, resource: str | None = None
) -> Owner:
    """The owner of a volume from its tags, its host's tags, and the service that manages it.

    `resource` is the ARN of what of a service it is attached for, or the service's name; None where it is a host of its
    account. The most specific wins: an operator, then such a service, Kubernetes, CloudFormation, Terraform, and the
    Auto Scaling group or launch template of its host; otherwise it was made by hand.
    """
    if operator is not None:
        return Owner(kind=OwnerKind.OPERATOR, name=operator)
    if resource is not None:
        return _service(resource)
    return _kubernetes(tags) or _cloudformation(tags) or terraform_owner(tags) or _auto_scaling(host_tags) or BY_HAND


def _service(resource: str) -> Owner:
    """The service that attached a volume to its resource, for example to an ECS task."""
    service = resource.split(":")[2] if resource.startswith("arn:") else resource.partition(".")[0]
    details = {"service": service, "resource": resource if resource.startswith("arn:") else None}
    return Owner(kind=OwnerKind.OPERATOR, name=_SERVICES.get(service, service), details=known_details(details))


def _kubernetes(tags: Mapping[str, str]) -> Owner | None:
    cluster = tags.get("KubernetesCluster") or tags.get("ebs.csi.aws.com/cluster-name")
    cluster = cluster or next(
        (key.removeprefix(_CLUSTER_PREFIX) for key in tags if key.startswith(_CLUSTER_PREFIX)), None
    )
    claim = tags.get(_CLAIM)
    if claim is None and tags.get("ebs.csi.aws.com/cluster") != "true":
        return None
    namespace = tags.get("kubernetes.io/created-for/pvc/namespace", "default")
    details = {
        "claim": claim,
        "namespace": namespace if claim else None,
        "persistent_volume": tags.get("kubernetes.io/created-for/pv/name"),
        "cluster": cluster,
        "storage_class": tags.get("storageclass") or tags.get("kubernetes.io/storageclass"),
    }
    name = f"{namespace}/{claim}" if claim else cluster
    return Owner(kind=OwnerKind.KUBERNETES, name=name, details=known_details(details))


def _cloudformation(tags: Mapping[str, str]) -> Owner | None:
    stack = tags.get("aws:cloudformation:stack-name")
    if stack is None:
        return None
    details = {
        "logical_id": tags.get("aws:cloudformation:logical-id"),
        "stack_id": tags.get("aws:cloudformation:stack-id"),
    }
    return Owner(kind=OwnerKind.CLOUDFORMATION, name=stack, details=known_details(details))


def _auto_scaling(host_tags: Mapping[str, str]) -> Owner | None:
    group = host_tags.get("aws:autoscaling:groupName")
    template = host_tags.get("aws:ec2launchtemplate:id")
    if group is None and template is None:
        return None
    return Owner(
        kind=OwnerKind.AUTO_SCALING,
        name=group or template,
        details=known_details({"group": group, "launch_template": template}),
    )
