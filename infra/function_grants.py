"""The rights of functions to the service's own store, tables, bus and roles: a grant for each need."""

from collections.abc import Sequence

from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from plimsoll.clouds.aws.names import role_arn
from plimsoll.clouds.aws.permissions import (
    CLAIMS,
    CLAIMS_CONDITION,
    DECISIONS,
    EVENTS,
    EVENTS_CONDITION,
    FACTS_CONDITION,
    FACTS_WRITING,
    HISTORY,
    IDEMPOTENCY,
    MEMBERS,
    ORGANIZATION,
    OWN_ORGANIZATION,
    STORE_LISTING,
    STORE_READING,
    STORE_WRITING,
    SWITCH,
    auditing,
    trust_condition,
)

_OBJECTS = "The objects of a run have names of their own under this prefix."


def store(names: Names, *, read: Sequence[str] = (), write: Sequence[str] = ()) -> list[Grant]:
    """Reads under some prefixes of the bucket, and reads and writes under others; the bucket must be this account's."""
    ours = {"StringEquals": {"s3:ResourceAccount": names.stack.account}}
    both = (*read, *write)
    grants = [
        Grant(
            actions=STORE_READING,
            resources=tuple(names.objects(f"{prefix}*") for prefix in both),
            conditions=ours,
            wildcard=_OBJECTS,
        ),
        Grant(
            actions=STORE_LISTING,
            resources=(names.bucket_arn,),
            conditions={**ours, "StringLikeIfExists": {"s3:prefix": [f"{prefix}*" for prefix in both]}},
        ),
    ]
    if write:
        grants.append(
            Grant(
                actions=STORE_WRITING,
                resources=tuple(names.objects(f"{prefix}*") for prefix in write),
                conditions=ours,
                wildcard=_OBJECTS,
            )
        )
    return grants


def facts(names: Names, *, write: Sequence[str] = ()) -> list[Grant]:
    """Reads facts, and adds some by patterns of their keys; none is deleted or written over."""
    ours = {"StringEquals": {"s3:ResourceAccount": names.stack.account}}
    plans = "The facts of a plan have names of their own under its id."
    grants = [
        Grant(actions=STORE_READING, resources=(names.fact_objects("*"),), conditions=ours, wildcard=plans),
        Grant(actions=STORE_LISTING, resources=(f"arn:{names.stack.partition}:s3:::{names.facts}",), conditions=ours),
    ]
    if write:
        added = tuple(names.fact_objects(pattern) for pattern in write)
        conditions = {**ours, **FACTS_CONDITION}
        grants.append(Grant(actions=FACTS_WRITING, resources=added, conditions=conditions, wildcard=plans))
    return grants


def switch(names: Names) -> Grant:
    """Looks at the switch that ends changes."""
    return Grant(actions=SWITCH, resources=(names.arn("ssm", f"parameter{names.change_switch}"),))


def history(names: Names) -> Grant:
    """Reads and writes what was recommended before."""
    return Grant(actions=HISTORY, resources=(names.table_arn(names.history),))


def decisions(names: Names) -> Grant:
    """Reads what people decided about volumes, and adds to it."""
    return Grant(actions=DECISIONS, resources=(names.table_arn(names.history),))


def past_decisions(names: Names) -> Grant:
    """Reads what people decided about volumes."""
    return Grant(actions=DECISIONS & HISTORY, resources=(names.table_arn(names.history),))


def claims(names: Names) -> Grant:
    """Takes and gives up claims, and touches no other item of their table."""
    return Grant(actions=CLAIMS, resources=(names.table_arn(names.coordination),), conditions=CLAIMS_CONDITION)


def idempotency(names: Names) -> Grant:
    """Keeps what was done, so that it is not done twice."""
    return Grant(actions=IDEMPOTENCY, resources=(names.table_arn(names.coordination),))


def tell(names: Names) -> Grant:
    """Sends the service's own events to its own bus."""
    return Grant(actions=EVENTS, resources=(names.event_bus_arn,), conditions=EVENTS_CONDITION)


def account_listing(deployment: Deployment) -> list[Grant]:
    """Finds the other accounts of the scope if it has any."""
    if deployment.organization or deployment.organizational_units or deployment.accounts:
        return [look(ORGANIZATION, "list the accounts of an Organization")]
    return []


def scope_reading(deployment: Deployment) -> list[Grant]:
    """Finds the regions of this account, and the other accounts of the scope if it has any."""
    return [region_listing(), *account_listing(deployment)]


def region_listing() -> Grant:
    """Finds the regions of this account."""
    return look(frozenset({"ec2:DescribeRegions"}), "list an account's regions")


def judging(names: Names, deployment: Deployment) -> list[Grant]:
    """Finds one volume in the scope and decides on it as an audit does, by the audit's role."""
    return [
        *scope_reading(deployment),
        look(auditing(deployment.parsed_policy), "read volumes, prices and metrics"),
        *enter(names, deployment, deployment.role_name),
    ]


def enter(names: Names, deployment: Deployment, role_name: str) -> list[Grant]:
    """Assumes the role of that name in the accounts of the scope, and no other. Nothing if it has no accounts."""
    partition, path = names.stack.partition, deployment.role_path
    asks = trust_condition(deployment.external_id)
    if deployment.accounts:
        roles = tuple(role_arn(account, role_name, partition, path) for account in deployment.accounts)
        return [Grant(actions=MEMBERS, resources=roles, conditions=asks)]
    if deployment.organization or deployment.organizational_units:
        return [
            Grant(
                actions=MEMBERS,
                resources=(role_arn("*", role_name, partition, path),),
                conditions={**asks, "StringEquals": {**asks.get("StringEquals", {}), **OWN_ORGANIZATION}},
                wildcard="The accounts of an Organization come and go; the role has one name in all of them.",
            )
        ]
    return []


def look(actions: frozenset[str], what: str) -> Grant:
    """Reading actions that have no resource-level permissions, in the account deployed in."""
    return Grant(
        actions=actions, resources=("*",), wildcard=f"The actions that {what} have no resource-level permissions."
    )
