"""Kubernetes: a change as the Persistent Disk CSI driver's classes, claims and snapshots have it written."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from plimsoll.model.market import VolumeType
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll_google.change_steps import is_in_place, plain_type

_DRIVER: Final = "pd.csi.storage.gke.io"
_SNAPSHOTS: Final = "snapshot.storage.k8s.io"


def kubernetes(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[str]:
    """The change for Kubernetes: a VolumeAttributesClass in place, else a claim made from a snapshot of the claim.

    The driver's ModifyVolume takes `iops` and `throughput` alone, in mebibytes as `250Mi`; a StorageClass calls them
    otherwise (its source, `pkg/parameters`, read in November 2026).
    """
    if is_in_place(volume.spec, target, types):
        yield from _attributes_class(volume, target)
    else:
        yield from _claim_from_snapshot(volume, target)


def _attributes_class(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    name = _class_name(target)
    manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttributesClass",
        "metadata": {"name": name},
        "driverName": _DRIVER,
        "parameters": _texts({"iops": target.iops, "throughput": _mebi(target)}),
    }
    yield _yaml(manifest)
    spec: dict[str, Any] = {"volumeAttributesClassName": name}
    if target.size_gib > volume.spec.size_gib:
        spec["resources"] = {"requests": {"storage": f"{target.size_gib}Gi"}}
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    yield shlex.join(
        ["kubectl", "-n", _namespace(volume), "patch", "pvc", _claim(volume), "--type", "merge", "-p", patch]
    )
    yield (
        "It wants Kubernetes 1.34, where such classes are generally available. New claims still get what their "
        "StorageClass says: change its provisioned-iops-on-create and provisioned-throughput-on-create too."
    )


def _claim_from_snapshot(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    claim, storage_class = _claim(volume), _class_name(target)
    snapshot = {"name": f"{claim}-before-{plain_type(target.type)}", "namespace": _namespace(volume)}
    yield (
        "A claim keeps its type; a VolumeAttributesClass changes IOPS and throughput alone. Scale what uses it to 0, "
        "and apply:"
    )
    yield _yaml(
        _storage_class(storage_class, target),
        {
            "apiVersion": f"{_SNAPSHOTS}/v1",
            "kind": "VolumeSnapshot",
            "metadata": snapshot,
            "spec": {"source": {"persistentVolumeClaimName": claim}},
        },
        _new_claim(volume, storage_class, snapshot, target),
    )
    keep = '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
    yield (
        "Then have it use the new claim. A StatefulSet finds its claims by name: there keep the old volume, as below, "
        "and once the snapshot is ready delete the old claim and make the new one under its name."
    )
    yield shlex.join(["kubectl", "patch", "pv", volume.owner.details.get("persistent_volume", "VOLUME"), "-p", keep])
    yield (
        "The old volume is the way back, without what was written since; delete it when the new one has proved itself. "
        f"The nodes must be of a machine type that {plain_type(target.type)} can be attached to."
    )


def _storage_class(name: str, target: VolumeSpec) -> Mapping[str, Any]:
    parameters = {
        "type": plain_type(target.type),
        "replication-type": "regional-pd" if target.type.startswith("regional-") else None,
        "provisioned-iops-on-create": target.iops,
        "provisioned-throughput-on-create": _mebi(target),
    }
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": _DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
        "parameters": _texts(parameters),
    }


def _new_claim(
    volume: Volume, storage_class: str, snapshot: Mapping[str, str], target: VolumeSpec
) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"{_claim(volume)}-{plain_type(target.type)}",
            "namespace": snapshot["namespace"],
        },
        "spec": {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteMany" if volume.multi_attach else "ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{target.size_gib}Gi"}},
            "dataSource": {"apiGroup": _SNAPSHOTS, "kind": "VolumeSnapshot", "name": snapshot["name"]},
        },
    }


def _class_name(target: VolumeSpec) -> str:
    figures = [str(figure) for figure in (target.iops, target.throughput_mib_s) if figure is not None]
    return "-".join(["plimsoll", target.type, *figures])


def _mebi(target: VolumeSpec) -> str | None:
    return None if target.throughput_mib_s is None else f"{target.throughput_mib_s}Mi"


def _texts(parameters: Mapping[str, str | int | None]) -> dict[str, str]:
    return {key: str(value) for key, value in parameters.items() if value is not None}


def _claim(volume: Volume) -> str:
    return volume.owner.details.get("claim", "CLAIM")


def _namespace(volume: Volume) -> str:
    return volume.owner.details.get("namespace", "NAMESPACE")


def _yaml(*manifests: Mapping[str, Any]) -> str:
    return yaml.safe_dump_all(manifests, sort_keys=False, width=1_000, allow_unicode=True).rstrip("\n")
