"""Epochs: the spans of a window in which a volume's configuration and its hosts did not change.

What a volume could carry at a time is what it was then, not what it is now. What is on record about the past is used,
the best first: the latest modification with its original values, when it was attached and made, and what earlier audits
saw. With nothing on record the present configuration stands for the whole window. Where a change is on record and what
was before it is not, the epoch before has no known ceiling (docs/decision.md, section 1).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from plimsoll.domain.sums import Window
from plimsoll.domain.units import MINUTE_S
from plimsoll.domain.volume import Volume, VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """A span of time with the configuration of the volume in it, None where that is not known."""

    window: Window
    spec: VolumeSpec | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a volume was seen to be at a time (epoch seconds), by an earlier audit."""

    at_s: int
    spec: VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """From a time on a volume was that; None: it is not known what."""

    from_s: int
    spec: VolumeSpec | None


def epochs_of(volume: Volume, window: Window, seen: Iterable[Seen] = ()) -> tuple[Epoch, ...]:
    """The epochs of a window, oldest first; they cover it, and neighbors differ.

    A bucket in which a change was made belongs to the epoch before it.
    """
    turns = _turns(volume, window, sorted(seen, key=lambda one: one.at_s))
    starts = [max(window.start_s, min(turn.from_s, window.end_s)) for turn in turns]
    found: list[Epoch] = []
    for turn, (start_s, end_s) in zip(turns, pairwise([*starts, window.end_s]), strict=True):
        if start_s >= end_s:
            continue
        if found and found[-1].spec == turn.spec:
            found[-1] = replace(found[-1], window=Window(start_s=found[-1].window.start_s, end_s=end_s))
        else:
            found.append(Epoch(window=Window(start_s=start_s, end_s=end_s), spec=turn.spec))
    return tuple(found)


def _turns(volume: Volume, window: Window, seen: Sequence[Seen]) -> list[_Turn]:
    """What the volume was from when on, oldest first; the first from the window's beginning on."""
    change = volume.modification
    if change is None:
        return _by_sightings(window, seen, last=_Turn(from_s=window.start_s, spec=volume.spec))
    from_s = -(-int(change.started.timestamp()) // MINUTE_S) * MINUTE_S
    before = [one for one in seen if one.at_s < from_s]
    return [
        *_by_sightings(window, before, last=_Turn(from_s=window.start_s, spec=change.original)),
        _Turn(from_s=from_s, spec=volume.spec),
    ]


def _by_sightings(window: Window, seen: Sequence[Seen], *, last: _Turn) -> list[_Turn]:
    """The turns that sightings tell of, up to the last of which it is known what it was at its end.

    Between two sightings that differ the change was at a time that is not known: what it was there is not known either.
    """
    found = [_Turn(from_s=window.start_s, spec=seen[0].spec if seen else last.spec)]
    for one, following in pairwise(seen):
        if one.spec != following.spec:
            found += [_Turn(from_s=one.at_s, spec=None), _Turn(from_s=following.at_s, spec=following.spec)]
    if seen and seen[-1].spec != last.spec:
        found.append(_Turn(from_s=seen[-1].at_s, spec=None))
    return found
