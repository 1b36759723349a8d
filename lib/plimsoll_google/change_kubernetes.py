"""Kubernetes: a change as the Persistent Disk CSI driver's classes, claims and snapshots have it written."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.clouds.common.claims import (
    CLASSES_SINCE,
    Parameters,
    as_texts,
    check_cluster,
    claim_of,
    class_name,
    declare_class,
    patch_claim,
    warn_of_new_claims,
    yaml_text,
)
from plimsoll.decide.answer import ChangeStep, command_step, edit_step, manifest_step, note_step
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll_google.change_steps import is_in_place, plain_type

_DRIVER: Final = "pd.csi.storage.gke.io"
_SNAPSHOTS: Final = "snapshot.storage.k8s.io"


def disk_claim_steps(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[ChangeStep]:
    """The steps for a claim: a VolumeAttributesClass in place, else a claim made from a snapshot of the claim.

    The driver's ModifyVolume takes `iops` and `throughput` alone, in mebibytes as `250Mi`; a StorageClass calls them
    otherwise (its source, `pkg/parameters`, read in November 2026).
    """
    if is_in_place(volume.spec, target, types):
        yield from _class_steps(volume, target)
    else:
        yield from _claim_from_snapshot(volume, target)


def _class_steps(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    is_new = target.figures != volume.spec.figures
    if is_new:
        for spec in (volume.spec, target):
            yield declare_class(spec, _DRIVER, {"iops": spec.iops, "throughput": _mebi(spec)})
    yield from check_cluster(volume, None)
    yield patch_claim(volume, target, with_class=is_new)
    if is_new:
        yield note_step(CLASSES_SINCE)
        yield warn_of_new_claims(volume.owner.details.get("storage_class"), _class_parameters(target))


def _claim_from_snapshot(volume: Volume, target: VolumeSpec) -> Iterator[ChangeStep]:
    (namespace, claim), storage_class = claim_of(volume), class_name(target)
    snapshot = {"name": f"{claim}-before-{plain_type(target.type)}", "namespace": namespace}
    yield edit_step(
        "A claim keeps its type; a VolumeAttributesClass changes IOPS and throughput alone. Scale what uses it to 0, "
        "and apply:"
    )
    taken = {
        "apiVersion": f"{_SNAPSHOTS}/v1",
        "kind": "VolumeSnapshot",
        "metadata": snapshot,
        "spec": {"source": {"persistentVolumeClaimName": claim}},
    }
    manifests = _storage_class(storage_class, target), taken, _new_claim(volume, storage_class, snapshot, target)
    yield manifest_step(f"{namespace}-{claim}-{storage_class}.yaml", yaml_text(*manifests))
    keep = '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
    yield edit_step(
        "Then have it use the new claim. A StatefulSet finds its claims by name: there keep the old volume, as below, "
        "and once the snapshot is ready delete the old claim and make the new one under its name."
    )
    kept = volume.owner.details.get("persistent_volume", "VOLUME")
    yield command_step(shlex.join(["kubectl", "patch", "pv", kept, "-p", keep]))
    yield note_step(
        "The old volume is the way back, without what was written since; delete it when the new one has proved itself. "
        f"The nodes must be of a machine type that {plain_type(target.type)} can be attached to."
    )


def _class_parameters(target: VolumeSpec) -> Parameters:
    """The parameters of a StorageClass that makes volumes of a configuration."""
    return {
        "type": plain_type(target.type),
        "replication-type": "regional-pd" if target.type.startswith("regional-") else None,
        "provisioned-iops-on-create": target.iops,
        "provisioned-throughput-on-create": _mebi(target),
    }


def _storage_class(name: str, target: VolumeSpec) -> Mapping[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": _DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
        "parameters": as_texts(_class_parameters(target)),
    }


def _new_claim(
    volume: Volume, storage_class: str, snapshot: Mapping[str, str], target: VolumeSpec
) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"{claim_of(volume)[1]}-{plain_type(target.type)}",
            "namespace": snapshot["namespace"],
        },
        "spec": {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteMany" if volume.multi_attach else "ReadWriteOnce"],
            "resources": {"requests": {"storage": f"{target.size_gib}Gi"}},
            "dataSource": {"apiGroup": _SNAPSHOTS, "kind": "VolumeSnapshot", "name": snapshot["name"]},
        },
    }


def _mebi(target: VolumeSpec) -> str | None:
    return None if target.throughput_mib_s is None else f"{target.throughput_mib_s}Mi"
