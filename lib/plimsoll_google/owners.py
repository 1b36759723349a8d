"""Owners: the maker of a disk, by the labels, descriptions and metadata that each tool leaves.

Labels were seen on real disks and in the tools' own sources in November 2026: the Persistent Disk CSI driver
(`pkg/parameters`), GKE, Dataproc, Deployment Manager, and Terraform's Google provider. Marks that only some versions
leave are not used.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from plimsoll.clouds.common.terraform_owner import known_details, terraform_owner
from plimsoll.model.volume import BY_HAND, NAME_TAG, Owner, OwnerKind

CREATED_BY: Final = "created-by"
INSTANCE_TEMPLATE: Final = "instance-template"
HOST_METADATA: Final = (CREATED_BY, INSTANCE_TEMPLATE)
"""The items of an instance's metadata by which a managed instance group marks it; owner_of reads them as host tags."""

_CLAIM: Final = "kubernetes.io/created-for/pvc/name"
_CLAIM_NAMESPACE: Final = "kubernetes.io/created-for/pvc/namespace"
_PERSISTENT_VOLUME: Final = "kubernetes.io/created-for/pv/name"
_CREATED_BY_DRIVER: Final = "storage.gke.io/created-by"
_GKE_VOLUME: Final = "goog-gke-volume"
_GKE_NODE: Final = "goog-gke-node"
_CLUSTER: Final = "goog-k8s-cluster-name"
_CLUSTER_LOCATION: Final = "goog-k8s-cluster-location"
_NODE_POOL: Final = "goog-k8s-node-pool-name"
_DATAPROC: Final = "goog-dataproc-cluster-name"
_DATAPROC_LOCATION: Final = "goog-dataproc-location"
_DEPLOYMENT: Final = "goog-dm"
_ATTRIBUTED: Final = "goog-terraform-provisioned"
_GROUP: Final = re.compile(r"^projects/[^/]+/(?:zones|regions)/([^/]+)/instanceGroupManagers/([^/]+)$")


def disk_owner(tags: Mapping[str, str], host_tags: Mapping[str, str], name: str, description: str) -> Owner:
    """The owner of a disk from its labels, its host's labels and HOST_METADATA, its name and its description.

    A boot disk that was made with its instance shares its name; the CSI driver writes JSON into the description.

    The most specific wins: a Kubernetes claim, then for a disk that was made with its host the node pool, Dataproc
    cluster or instance group that made both, then Terraform and Deployment Manager; otherwise it was made by hand. A
    cluster's labels reach all that it makes, so that Terraform's mark on a claim or a node tells of the cluster alone.
    """
    made = {**host_tags, **tags} if _made_with_host(name, host_tags) else tags
    return (
        _kubernetes(tags, description)
        or _node_pool(made)
        or _dataproc(made)
        or _group(made)
        or _terraform(made)
        or _deployment(made)
        or BY_HAND
    )


def _made_with_host(name: str, host_tags: Mapping[str, str]) -> bool:
    """True if the name is the instance's, with a number behind it for the second disk and later ones."""
    host = host_tags.get(NAME_TAG)
    if host is None or not name.startswith(host):
        return False
    dash, number = name[len(host) :][:1], name[len(host) :][1:]
    return not dash or (dash == "-" and number.isdecimal())


def _kubernetes(tags: Mapping[str, str], description: str) -> Owner | None:
    marks = _marks(description)
    claim = marks.get(_CLAIM)
    if claim is None and _GKE_VOLUME not in tags and _CREATED_BY_DRIVER not in marks:
        return None
    namespace = marks.get(_CLAIM_NAMESPACE, "default")
    details = {
        "claim": claim,
        "namespace": namespace if claim else None,
        "persistent_volume": marks.get(_PERSISTENT_VOLUME),
        "cluster": tags.get(_CLUSTER),
        "location": tags.get(_CLUSTER_LOCATION),
    }
    name = f"{namespace}/{claim}" if claim else tags.get(_CLUSTER)
    return Owner(kind=OwnerKind.KUBERNETES, name=name, details=known_details(details))


def _marks(description: str) -> dict[str, str]:
    """The marks of the CSI driver in the description; empty if it has other text."""
    try:
        marks = json.loads(description)
    except ValueError:
        return {}
    if not isinstance(marks, dict):
        return {}
    return {key: value for key, value in marks.items() if isinstance(value, str)}


def _node_pool(made: Mapping[str, str]) -> Owner | None:
    if _GKE_NODE not in made:
        return None
    details = known_details(
        {
            "node_pool": made.get(_NODE_POOL),
            "cluster": made.get(_CLUSTER),
            "location": made.get(_CLUSTER_LOCATION),
        }
    )
    name = "/".join(details[key] for key in ("cluster", "node_pool") if key in details) or None
    return Owner(kind=OwnerKind.AUTO_SCALING, name=name, details={"service": "gke", **details})


def _dataproc(made: Mapping[str, str]) -> Owner | None:
    cluster = made.get(_DATAPROC)
    if cluster is None:
        return None
    details = {"service": "dataproc", "cluster": cluster, "location": made.get(_DATAPROC_LOCATION)}
    return Owner(kind=OwnerKind.OPERATOR, name=f"Dataproc cluster {cluster}", details=known_details(details))


def _group(made: Mapping[str, str]) -> Owner | None:
    match = _GROUP.match(made.get(CREATED_BY, ""))
    if match is None:
        return None
    location, group = match.groups()
    template = made.get(INSTANCE_TEMPLATE, "").rpartition("/")[2] or None
    details = {"group": group, "location": location, "template": template}
    return Owner(kind=OwnerKind.AUTO_SCALING, name=group, details=known_details(details))


def _terraform(made: Mapping[str, str]) -> Owner | None:
    attributed = made.get(_ATTRIBUTED) == "true"
    return terraform_owner(made) or (Owner(kind=OwnerKind.TERRAFORM) if attributed else None)


def _deployment(made: Mapping[str, str]) -> Owner | None:
    deployment = made.get(_DEPLOYMENT)
    if not deployment:
        return None
    details = {"service": "deployment-manager", "deployment": deployment}
    return Owner(kind=OwnerKind.OPERATOR, name=f"Deployment Manager's {deployment}", details=details)
