"""The sweep: scratch volumes past their deadline are deleted, whoever made them and however that ended."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from plimsoll.domain.errors import CloudError
from plimsoll.domain.scratch import ScratchVolume
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.validation.patience import Patience
from plimsoll.validation.scratch_volume import Left, remove


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A scratch volume that was found: `deleted`, or not yet due (`left` None), or why it is still there."""

    target: Target
    volume: ScratchVolume
    deleted: bool
    left: Left | None = None


def sweep(
    targets: Iterable[Target | FailedTarget],
    now: datetime,
    *,
    bench: Bench,
    patience: Patience,
    everything: bool = False,
) -> Iterator[Swept | FailedTarget]:
    """Every scratch volume of the targets, deleted where its deadline has passed, or all of them with `everything`.

    A failing target costs itself only.
    """
    for target in targets:
        if isinstance(target, FailedTarget):
            yield target
            continue
        try:
            found = bench.scratch(target)
        except CloudError as error:
            yield FailedTarget(name=str(target), error=error)
            continue
        for volume in found:
            if not everything and not volume.is_due(now):
                yield Swept(target=target, volume=volume, deleted=False)
                continue
            left = next(remove(volume, target, bench=bench, patience=patience), None)
            yield Swept(target=target, volume=volume, deleted=left is None, left=left)
