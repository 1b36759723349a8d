"""Step 1, inventory: the volumes of a target, its notices, and the stripe sets that still exist there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.auditing.ports import AuditPorts
from plimsoll.auditing.side_by_side import side_by_side
from plimsoll.domain.errors import CloudError
from plimsoll.domain.stripes import unchanged
from plimsoll.domain.volume import Volume
from plimsoll.outcomes import Notice
from plimsoll.ports import FailedTarget, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The volumes of a target and, if listing failed, the error that it failed with."""

    target: Target
    volumes: list[Volume]
    error: CloudError | None


def listings(ports: AuditPorts) -> Iterator[Listing | FailedTarget]:
    """Every target in scope with its volumes, several listed at once."""
    with ports.stages.stage("inventory"):
        targets = ports.inventory.targets()

    def listed(target: Target | FailedTarget) -> Listing | FailedTarget:
        if isinstance(target, FailedTarget):
            return target
        volumes, error = list_volumes(target, ports)
        return Listing(target=target, volumes=volumes, error=error)

    yield from side_by_side(listed, targets)


def list_volumes(target: Target, ports: AuditPorts) -> tuple[list[Volume], CloudError | None]:
    """The target's volumes and, if listing failed, the error with the volumes listed before it.

    A host's traffic needs all of its volumes, so a part of them is no inventory.
    """
    volumes: dict[str, Volume] = {}
    try:
        with ports.stages.stage("inventory"):
            for volume in ports.inventory.volumes(target):
                volumes[volume.id] = volume  # a volume that moves between pages can be listed twice
    except CloudError as error:
        return list(volumes.values()), error
    return list(volumes.values()), None


def notices_of(target: Target, ports: AuditPorts) -> Sequence[str]:
    """The target's notices. If they cannot be read, the reason is the notice."""
    try:
        return ports.inventory.notices(target)
    except CloudError as error:
        return (str(error),)


def with_stripes_of(target: Target, volumes: Sequence[Volume], ports: AuditPorts) -> tuple[AuditPorts, list[Notice]]:
    """The ports with only the target's stripe sets that are unchanged, and a notice for each that changed."""
    stripes, void = unchanged(ports.stripes, volumes, account=target.account, region=target.region)
    return replace(ports, stripes=stripes), [Notice(target=target, text=text) for text in void]
