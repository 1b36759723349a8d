"""Claims of Kubernetes: the manifests and commands by which a volume's claim gets another configuration."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from plimsoll.decide.answer import ChangeStep, command_step, manifest_step, note_step
from plimsoll.model.volume import Volume, VolumeSpec

Parameters = Mapping[str, str | int | None]

CLASSES_SINCE: Final = (
    "VolumeAttributesClasses want Kubernetes 1.34 (1.31 to 1.33: storage.k8s.io/v1beta1, behind a feature gate). To "
    "clear a claim's class restores nothing: the class that leads back is declared with the other."
)


def class_name(spec: VolumeSpec) -> str:
    """The name of the class of a configuration: one for each type and figures."""
    figures = [str(figure) for figure in (spec.iops, spec.throughput_mib_s) if figure is not None]
    return "-".join(["plimsoll", spec.type, *figures])


def claim_of(volume: Volume) -> tuple[str, str]:
    """The namespace and name of a volume's claim; placeholders if its tags name none."""
    return volume.owner.details.get("namespace", "NAMESPACE"), volume.owner.details.get("claim", "CLAIM")


def declare_class(spec: VolumeSpec, driver: str, parameters: Parameters) -> ChangeStep:
    """The VolumeAttributesClass of a configuration."""
    name = class_name(spec)
    return manifest_step(
        f"{name}.yaml",
        yaml_text(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttributesClass",
                "metadata": {"name": name},
                "driverName": driver,
                "parameters": as_texts(parameters),
            }
        ),
    )


def patch_claim(volume: Volume, target: VolumeSpec, *, with_class: bool) -> ChangeStep:
    """The command that gives a claim another class, a larger size or both."""
    namespace, claim = claim_of(volume)
    spec: dict[str, Any] = {"volumeAttributesClassName": class_name(target)} if with_class else {}
    if target.size_gib > volume.spec.size_gib:
        spec["resources"] = {"requests": {"storage": f"{target.size_gib}Gi"}}
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    words = ["kubectl", "-n", namespace, "patch", "pvc", claim, "--type", "merge", "-p", patch]
    return command_step(shlex.join(words), namespace=namespace)


def check_cluster(volume: Volume, handle: str | None) -> Iterator[ChangeStep]:
    """The command that fails in another cluster: there the claim's volume has another name, or another `handle`."""
    name = volume.owner.details.get("persistent_volume")
    namespace, claim = claim_of(volume)
    volume_name_line = (
        f"kubectl -n {shlex.quote(namespace)} get pvc {shlex.quote(claim)} -o jsonpath='{{.spec.volumeName}}'"
    )
    if handle is not None:
        volume_name = shlex.quote(name) if name else f'"$({volume_name_line})"'
        asked = f"kubectl get pv {volume_name} -o jsonpath='{{.spec.csi.volumeHandle}}'"
        yield command_step(f'test "$({asked})" = {shlex.quote(handle)}', namespace=namespace)
    elif name:
        yield command_step(f'test "$({volume_name_line})" = {shlex.quote(name)}', namespace=namespace)


def tell_claim(volume: Volume, handle: str) -> Iterator[ChangeStep]:
    """The command that names the claim of a volume whose tags do not."""
    if "claim" not in volume.owner.details:
        query = f'{{range .items[?(@.spec.csi.volumeHandle=="{handle}")]}}{{.spec.claimRef.namespace}} '
        line = shlex.join(["kubectl", "get", "pv", "-o", f"jsonpath={query}{{.spec.claimRef.name}}{{end}}"])
        yield note_step(f"No tag names its claim. This prints the NAMESPACE and the CLAIM: {line}")


def warn_of_new_claims(storage_class: str | None, parameters: Parameters) -> ChangeStep:
    """A remark on what makes claims anew: the StorageClass, and whoever writes claims that name it."""
    named = f"StorageClass {storage_class}" if storage_class else "StorageClass"
    figures = ", ".join(f"{key}: {value}" for key, value in as_texts(parameters).items())
    return note_step(
        f"New claims still get the figures of their {named}. Its parameters cannot be edited: make another "
        f"with {figures} "
        "(in the place of iopsPerGB, with which IOPS grow with the size). Name it where claims are written again: the "
        "volumeClaimTemplates, chart, custom resource or repository, which may also set this claim back."
    )


def as_texts(parameters: Parameters) -> dict[str, str]:
    """The parameters that are given, as Kubernetes takes them: texts."""
    return {key: str(value) for key, value in parameters.items() if value is not None}


def yaml_text(*manifests: Mapping[str, Any]) -> str:
    """Manifests as YAML, one after the other."""
    return yaml.safe_dump_all(manifests, sort_keys=False, width=1_000, allow_unicode=True).rstrip("\n")
