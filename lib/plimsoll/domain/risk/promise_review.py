"""The review of earlier promises of a volume in a run.

A promise is taken up when the volume has become what was recommended, and no less. From then on whole days (UTC) are
counted, each once however many runs see it, until the promised days are over or the volume is changed again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.history import How, RunAnswer, carried_out
from plimsoll.domain.kinds import REPROVISION
from plimsoll.domain.risk.watch import PROMISE_KEPT_DAYS, Promise, Promised, Watch
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A span (epoch seconds) in which a volume was `spec`."""

    start_s: int
    end_s: int
    spec: VolumeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """The throttled minutes of a volume in spans from `starts_s` (epoch seconds), each `lengths_s` long.

    Each span is inside one day (UTC). Nothing is known of those that were not `observed`.
    """

    starts_s: IntArray
    lengths_s: IntArray
    minutes: FloatArray
    observed: BoolArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The view of a run at `at_s` (epoch seconds) of a volume that is `spec` now.

    `offered` is the promise that it makes (None: none). A `silent` run takes no earlier one back: it could not judge.
    `stays` are the specs of the volume in the window, oldest first. `throttling` is None if nothing certain is known.
    """

    at_s: int
    spec: VolumeSpec
    offered: Promise | None
    silent: bool
    stays: Sequence[Stay]
    throttling: Throttling | None


def review_promises(prior: Promised | None, review: Review) -> Promised | None:
    """Updates the promises of a volume after a run; None if nothing ever was promised, or all of it is long ago.

    The same run twice gives the same, and one that is no later than the last changes nothing.
    """
    if prior is None:
        return None if review.offered is None else Promised(at_s=review.at_s, made=review.offered)
    if review.at_s <= prior.at_s:
        return prior
    oldest_s = review.at_s - PROMISE_KEPT_DAYS * DAY_S
    made, watch = prior.made, prior.watch
    if made is not None and _is_taken_up(made, review.spec):
        watch = _begin_watch(made, review)
    if watch is not None:
        watch = _continue_watch(watch, review) if watch.changed_s >= oldest_s else None
    still = made if review.silent and made is not None and made.before.figures == review.spec.figures else None
    made = review.offered or (still if still is not None and still.made_s >= oldest_s else None)
    return None if made is None and watch is None else Promised(at_s=review.at_s, made=made, watch=watch)


def _is_taken_up(made: Promise, now: VolumeSpec) -> bool:
    """The volume became what was recommended: nearly is enough, but nothing was promised of less."""
    how = carried_out(RunAnswer(action=REPROVISION, current=made.before, target=made.target), now)
    pairs = zip(now.figures[1:], made.target.figures[1:], strict=True)
    return how in {How.EXACTLY, How.NEARLY} and all((figure or 0) >= (least or 0) for figure, least in pairs)


def _begin_watch(made: Promise, review: Review) -> Watch:
    """Begins the watch at the change; at the promise if the change was before the window, and nobody saw it."""
    changed_s, since = made.made_s, review.at_s
    for stay in reversed(review.stays):
        if stay.spec.figures != review.spec.figures:
            changed_s = max(since, made.made_s)
            break
        since = stay.start_s
    return Watch(promise=made, spec=review.spec, changed_s=changed_s, until_s=changed_s)


def _continue_watch(watch: Watch, review: Review) -> Watch:
    """Adds the days of a run to a watch, of those in which the volume was what it was changed to."""
    seen, end_s = review.throttling, min(review.at_s // DAY_S * DAY_S, watch.ends_s)
    if seen is None or end_s <= watch.until_s:
        return watch
    ends_s = seen.starts_s + seen.lengths_s
    counted = np.zeros(len(seen.starts_s), dtype=np.bool_)
    for stay in review.stays:
        if stay.spec.figures == watch.spec.figures:
            counted |= (seen.starts_s >= max(stay.start_s, watch.until_s)) & (ends_s <= min(stay.end_s, end_s))
    counted &= seen.observed
    return replace(
        watch,
        until_s=end_s,
        observed_s=watch.observed_s + int(seen.lengths_s[counted].sum()),
        throttled_minutes=round(watch.throttled_minutes + float(seen.minutes[counted].sum()), 1),
    )
