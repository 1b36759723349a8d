"""Allowed: what functions of the service may do with its own store, tables, bus and roles, as grants by need."""

from collections.abc import Sequence
from typing import Any

from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment

_OBJECTS = "The objects of a run have names of their own under this prefix."


def store(names: Names, *, read: Sequence[str] = (), write: Sequence[str] = ()) -> list[Grant]:
    """Reads under some prefixes of the bucket, and reads and writes under others; the bucket must be this account's."""
    ours = {"StringEquals": {"s3:ResourceAccount": names.stack.account}}
    both = (*read, *write)
    grants = [
        Grant(
            actions=("s3:GetObject",),
            resources=tuple(names.objects(f"{prefix}*") for prefix in both),
            conditions=ours,
            wildcard=_OBJECTS,
        ),
        Grant(
            actions=("s3:ListBucket",),
            resources=(names.bucket_arn,),
            conditions={**ours, "StringLike": {"s3:prefix": [f"{prefix}*" for prefix in both]}},
        ),
    ]
    if write:
        grants.append(
            Grant(
                actions=("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"),
                resources=tuple(names.objects(f"{prefix}*") for prefix in write),
                conditions=ours,
                wildcard=_OBJECTS,
            )
        )
    return grants


def history(names: Names) -> Grant:
    """Reads and writes what was recommended before."""
    return Grant(
        actions=("dynamodb:BatchGetItem", "dynamodb:BatchWriteItem"), resources=(names.table_arn(names.history),)
    )


def once(names: Names) -> Grant:
    """Claims, and the records of what must not be done twice."""
    return Grant(
        actions=("dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
        resources=(names.table_arn(names.coordination),),
    )


def tell(names: Names) -> Grant:
    """Sends events to the service's own bus."""
    return Grant(actions=("events:PutEvents",), resources=(names.event_bus_arn,))


def enter(names: Names, deployment: Deployment, role_name: str) -> list[Grant]:
    """Assumes the role of that name in the accounts of the scope, and no other; nothing where the scope has none."""
    partition = names.stack.partition
    asks: dict[str, Any] = {"StringEquals": {"sts:ExternalId": deployment.external_id}}
    if deployment.accounts:
        roles = tuple(f"arn:{partition}:iam::{account}:role/{role_name}" for account in deployment.accounts)
        return [Grant(actions=("sts:AssumeRole",), resources=roles, conditions=asks)]
    if deployment.organization or deployment.organizational_units:
        return [
            Grant(
                actions=("sts:AssumeRole",),
                resources=(f"arn:{partition}:iam::*:role/{role_name}",),
                conditions=asks,
                wildcard="The accounts of an Organization come and go; the role has one name in all of them.",
            )
        ]
    return []


def look(actions: frozenset[str], what: str) -> Grant:
    """Reading actions that have no resource-level permissions, in the account deployed in."""
    return Grant(
        actions=actions, resources=("*",), wildcard=f"The actions that {what} have no resource-level permissions."
    )
