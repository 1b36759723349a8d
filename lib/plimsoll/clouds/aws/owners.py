"""Owners: who made a volume and would undo a change of it, told by the tags that each tool leaves."""

from collections.abc import Mapping
from typing import Final

from plimsoll.clouds.common.terraform_owner import known_details, terraform_owner
from plimsoll.model.volume import BY_HAND, Owner, OwnerKind

_CLAIM: Final = "kubernetes.io/created-for/pvc/name"
_GROUP: Final = "aws:autoscaling:groupName"
_CLUSTER_PREFIX: Final = "kubernetes.io/cluster/"
_DRIVER_TAGS: Final = ("ebs.csi.aws.com/cluster", "CSIVolumeName")
"""The tags that the CSI driver leaves on every volume that it makes (aws-ebs-csi-driver, pkg/driver/constants)."""

IN_TREE: Final = "in-tree"
"""The provisioner of a claim's volume that the CSI driver did not make."""

_TASK: Final = "AmazonECSCreated"
"""The tag of a volume that ECS made for a task: the task's ARN, also once it is detached."""

_SERVICES: Final = {"ecs": "Amazon ECS"}
"""The names of services that attach volumes for their own resources, by the service of the resource's ARN."""


def owner_of(
    tags: Mapping[str, str], host_tags: Mapping[str, str], operator: str | None, resource: str | None = None
) -> Owner:
    """The owner of a volume from its tags, its host's tags, and the service that manages it.

    `resource` is the ARN of what of a service it is attached for, or the service's name; None where it is a host of its
    account. The most specific wins: an operator, then such a service, Kubernetes, Elastic Beanstalk, CloudFormation,
    Terraform, and what made its host: Karpenter, Beanstalk, an EKS node group, an Auto Scaling group or a launch
    template; otherwise it was made by hand.
    """
    if operator is not None:
        return Owner(kind=OwnerKind.OPERATOR, name=operator)
    if resource is not None or _TASK in tags:
        return _service(resource or tags[_TASK])
    return (
        _kubernetes(tags)
        or _beanstalk(tags)
        or _cloudformation(tags)
        or terraform_owner(tags)
        or _karpenter(tags)
        or _karpenter(host_tags)
        or _beanstalk(host_tags)
        or _auto_scaling(host_tags)
        or BY_HAND
    )


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
        "provisioner": None if any(key in tags for key in _DRIVER_TAGS) else IN_TREE,
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


def _karpenter(tags: Mapping[str, str]) -> Owner | None:
    """Karpenter's node class, by the tags of a node or of its volume.

    The launch template of its nodes is Karpenter's own, and made anew as it likes.
    """
    node_class = tags.get("karpenter.k8s.aws/ec2nodeclass")
    pool = tags.get("karpenter.sh/nodepool")
    if node_class is None and pool is None:
        return None
    details = {"service": "karpenter", "node_class": node_class, "node_pool": pool}
    return Owner(kind=OwnerKind.AUTO_SCALING, name=node_class or pool, details=known_details(details))


def _beanstalk(tags: Mapping[str, str]) -> Owner | None:
    environment = tags.get("elasticbeanstalk:environment-name")
    if environment is None:
        return None
    details = {"service": "elasticbeanstalk", "environment": environment, "group": tags.get(_GROUP)}
    return Owner(kind=OwnerKind.AUTO_SCALING, name=environment, details=known_details(details))


def _auto_scaling(host_tags: Mapping[str, str]) -> Owner | None:
    group = host_tags.get(_GROUP)
    template = host_tags.get("aws:ec2launchtemplate:id")
    if group is None and template is None:
        return None
    return Owner(
        kind=OwnerKind.AUTO_SCALING,
        name=group or template,
        details=known_details({"group": group, "launch_template": template, **_node_group(host_tags)}),
    )


def _node_group(host_tags: Mapping[str, str]) -> dict[str, str | None]:
    """The EKS node group of a host; empty if it is in none."""
    if "eks:nodegroup-name" not in host_tags:
        return {}
    names = {"node_group": host_tags["eks:nodegroup-name"], "cluster": host_tags.get("eks:cluster-name")}
    return {"service": "eks", **names}
