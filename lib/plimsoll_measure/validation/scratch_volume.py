"""Scratch volumes: looks while one is made or attached, and its deletion, whoever made it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import BadInput, CloudError, NotMeasured, PlimsollError
from plimsoll.model.task import ScratchVolume
from plimsoll.ports import Bench, FailedTarget, Target

DELETE_ATTEMPTS: Final = 4
"""The most tries of a deletion before the volume is left to the sweep."""

CallResult = TypeVar("CallResult")

_GONE: Final = {"deleting", "deleted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A scratch volume that could not be deleted. The sweep deletes it after its deadline."""

    volume_id: str | None
    text: str


def is_made(volume_id: str, target: Target, since: datetime, *, bench: Bench, patience: BenchPatience) -> bool:
    """One look finds the new volume available. Raises NotMeasured if it is in error, or takes too long."""
    return _is_in("available", volume_id, target, since, patience.create_s, "was not made", bench, patience)


def is_attached(
    volume_id: str, target: Target, host_id: str, since: datetime, *, bench: Bench, patience: BenchPatience
) -> bool:
    """One look finds the volume attached. Raises NotMeasured if it is in error, or takes too long."""
    otherwise = f"was not attached to {host_id}"
    return _is_in("in-use", volume_id, target, since, patience.attach_s, otherwise, bench, patience)


def _is_in(
    state: str,
    volume_id: str,
    target: Target,
    since: datetime,
    limit_s: float,
    otherwise: str,
    bench: Bench,
    patience: BenchPatience,
) -> bool:
    """True if a scratch volume is in a state, and attached if that is in-use; False while it can still be waited for.

    Raises NotMeasured if it is in error, or the time is over.
    """
    volume = next(iter(bench.scratch(target, volume_id=volume_id)), None)
    if volume is not None and volume.state == "error":
        raise NotMeasured(f"scratch volume {volume_id} {otherwise}: the cloud says it is in error. Try again.")
    if volume is not None and volume.state == state and (state != "in-use" or volume.attachment == "attached"):
        return True
    overdue = f"scratch volume {volume_id} {otherwise} within {limit_s:,.0f} s: try again."
    patience.check(since, limit_s=limit_s, otherwise=overdue)
    return False


def clean(validation_id: str, target: Target, *, bench: Bench, patience: BenchPatience) -> Iterator[Left]:
    """Detaches and deletes every scratch volume of a validation. Yields each failure with its reason."""
    try:
        volumes = _try_often(lambda: bench.scratch(target), patience)
    except PlimsollError as error:
        yield Left(volume_id=None, text=f"scratch volumes in {target} could not be listed ({error}); `plimsoll sweep`")
        return
    for volume in volumes:
        if volume.validation_id == validation_id and volume.state not in _GONE:
            yield from remove(volume, target, bench=bench, patience=patience)


def remove(volume: ScratchVolume, target: Target, *, bench: Bench, patience: BenchPatience) -> Iterator[Left]:
    """Detaches and deletes one scratch volume. Yields it, with the reason, if that failed."""
    try:
        if volume.attached_to is not None:
            _detach(volume, target, bench, patience)
        _try_often(lambda: bench.delete(target, volume.id), patience)
    except PlimsollError as error:
        due = "now" if volume.deadline is None else f"from {volume.deadline:%Y-%m-%d %H:%M} UTC on, or now with --all"
        text = f"scratch volume {volume.id} in {target} is left behind: {error} `plimsoll sweep` deletes it {due}."
        yield Left(volume_id=volume.id, text=text)


def _detach(volume: ScratchVolume, target: Target, bench: Bench, patience: BenchPatience) -> None:
    """Detaches a volume, by force if it hangs."""

    def free() -> bool | None:
        volumes = bench.scratch(target, volume_id=volume.id)
        return True if not volumes or volumes[0].attached_to is None else None

    _try_often(lambda: bench.detach(target, volume.id), patience)
    try:
        patience.wait_for(free, limit_s=patience.detach_s, otherwise="")
    except NotMeasured:
        _try_often(lambda: bench.detach(target, volume.id, force=True), patience)
        otherwise = (
            f"it could not be detached from {volume.attached_to} within {patience.detach_s:,.0f} s, nor by force."
        )
        patience.wait_for(free, limit_s=patience.detach_s, otherwise=otherwise)


def _try_often(call: Callable[[], CallResult], patience: BenchPatience) -> CallResult:
    """A call, tried again on errors that may pass."""
    for attempt in range(1, DELETE_ATTEMPTS):
        try:
            return call()
        except BadInput:
            raise
        except PlimsollError:
            patience.pause(patience.every_s * attempt)
    return call()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A scratch volume that the sweep saw: `deleted`, not yet due (`left` None), or `left` behind with the reason."""

    target: Target
    volume: ScratchVolume
    deleted: bool
    left: Left | None = None

    @property
    def text(self) -> str:
        """A sentence on the volume's fate."""
        if self.left is not None:
            return self.left.text
        if self.deleted:
            return f"deleted {self.volume.id} in {self.target} (validation {self.volume.validation_id})"
        return f"kept {self.volume.id} in {self.target}: it is due {self.volume.deadline:%Y-%m-%d %H:%M} UTC"


def sweep_scratch_volumes(
    targets: Iterable[Target | FailedTarget],
    now: datetime,
    *,
    bench_at: Callable[[Target], Bench],
    patience: BenchPatience,
    everything: bool = False,
) -> Iterator[Swept | FailedTarget]:
    """Every scratch volume of the targets. Those past their deadline are deleted, with `everything` all of them.

    A failing target costs itself only.
    """
    for target in targets:
        if isinstance(target, FailedTarget):
            yield target
            continue
        try:
            bench = bench_at(target)
            volumes = bench.scratch(target)
        except CloudError as error:
            yield FailedTarget(name=str(target), error=error)
            continue
        for volume in volumes:
            if not everything and not volume.is_due(now):
                yield Swept(target=target, volume=volume, deleted=False)
                continue
            left = next(remove(volume, target, bench=bench, patience=patience), None)
            yield Swept(target=target, volume=volume, deleted=left is None, left=left)
