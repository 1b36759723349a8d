"""Owners of ordinary volumes: most are made by a tool, which tags them, and some by hand.

No owner here says which volumes stand in for one another, as a StatefulSet or a group does: names alone suggest that.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Final

from cloud_simulator.aws.fleet import SimulatedVolume
from cloud_simulator.aws.volume_maker import VolumeMaker

_APPS: Final = ("orders", "billing", "search", "catalog", "identity", "reporting", "events")
_NAMESPACES: Final = ("shop", "payments", "platform")


def _app(number: int) -> str:
    return _APPS[number % len(_APPS)]


def _terraform(volume: SimulatedVolume, number: int) -> SimulatedVolume:
    return _tag(volume, {"ManagedBy": "Terraform", "terraform-module": _app(number)})


def _kubernetes(volume: SimulatedVolume, number: int) -> SimulatedVolume:
    unique = f"{volume.id[-8:]}-{number % 0x10000:04x}-4c55-9a77-{volume.id[-12:]}"
    claim = {
        "kubernetes.io/created-for/pvc/name": f"{_app(number)}-data-{volume.id[-6:]}x",
        "kubernetes.io/created-for/pvc/namespace": _NAMESPACES[number % len(_NAMESPACES)],
        "kubernetes.io/created-for/pv/name": f"pvc-{unique}",
        "ebs.csi.aws.com/cluster": "true",
        "KubernetesCluster": "prod",
    }
    return _tag(volume, claim)


def _cloudformation(volume: SimulatedVolume, number: int) -> SimulatedVolume:
    stack = {"aws:cloudformation:stack-name": _app(number), "aws:cloudformation:logical-id": f"DataVolume{number}"}
    return _tag(volume, stack)


def _launch_template(volume: SimulatedVolume, number: int) -> SimulatedVolume:
    template = ("aws:ec2launchtemplate:id", f"lt-0{sha256(_app(number).encode()).hexdigest()[:16]}")
    return replace(volume, hosts=tuple(replace(host, tags=(*host.tags, template)) for host in volume.hosts))


_SHARES: Final[tuple[tuple[int, Callable[[SimulatedVolume, int], SimulatedVolume]], ...]] = (
    (45, _terraform),
    (73, _kubernetes),
    (86, _cloudformation),
    (96, _launch_template),
)
"""Tools, each with the percentage up to which volumes are its own. The rest are made by hand."""

_STEP: Final = 37
"""A step without a common divisor with 100: a hundred volumes in a row have every percentage once."""


def give_owners(maker: VolumeMaker, steps: Iterator[None]) -> Iterator[None]:
    """The steps of a maker, the volume of each with an owner's tags."""
    for number, _ in enumerate(steps):
        place = number * _STEP % 100
        tool = next((tool for share, tool in _SHARES if place < share), None)
        if tool is not None:
            maker.volumes[-1] = tool(maker.volumes[-1], number)
        yield


def _tag(volume: SimulatedVolume, tags: dict[str, str]) -> SimulatedVolume:
    return replace(volume, tags=(*volume.tags, *tags.items()))
