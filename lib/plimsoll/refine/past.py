"""Past: what is read of a volume's past, step by step, what that says so far, and which answers more could change.

Nothing is read unless the window alone asks for a change of what the volume carries: days for a reduction or more, and
the highest minutes of days for a reduction. Each step changes what is decided by all that has been read of the window,
so that an answer is proved before the next step (docs/decision.md, section 8). Headroom that is learned depends on the
past. Until that is read it is the policy's: an answer without a reduction has none with more headroom either."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Keep, Recommendation, Upgrade, Wait
from plimsoll.decide.case import UNLIMITED, Case, DecisionContext, Limits, uneventful_limits, weigh_past
from plimsoll.decide.offers import Offer, bare_type_offer, is_reduction
from plimsoll.demand.days import EARLIER_DAYS, SHORT_DAYS, BusyHours, DaySums, Rise, days_of_moves
from plimsoll.demand.demand import IOPS, Demand
from plimsoll.demand.epochs import Epoch, Unsettled, epochs_of
from plimsoll.demand.trial import TOLERANCE
from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll.model.ceiling import NOTHING, Ceiling, Need
from plimsoll.model.market import type_of
from plimsoll.model.policy import Growth
from plimsoll.model.series import BYTES, NAMES, OPERATIONS, PAST_RATES
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.model.volume import Volume, VolumeState
from plimsoll.past.memory import (
    LEAST_MEMORY_PERIOD_S,
    WEEK_DAYS,
    WEEKS,
    Past,
    clip_memory,
    days_to_know,
    find_growth,
    make_column,
    memory_start_s,
)
from plimsoll.reading.cost import QueryCost
from plimsoll.reading.known import Look
from plimsoll.reading.window import Segment, Window
from plimsoll.risk.histories import History, PastPeaks, split_into_blocks, summarize_history


class Recall:
    """A volume's past on the way to its answer.

    `days` are those of the past and of the window, None until they are known, `growth` is what they tell of it, and
    `asked_for` what the window asks for, growth included, where that is a reduction. `history` is what promises rest
    on, None where no highest minute is known.
    """

    __slots__ = (
        "_grows_an_upgrade",
        "_has_days",
        "_has_hours",
        "_has_idle",
        "_has_latest",
        "_has_rates",
        "_is_unsized",
        "_is_weighed",
        "_latest",
        "_past",
        "_policy",
        "_volume",
        "_window",
        "asked_for",
        "days",
        "earlier",
        "growth",
        "history",
    )

    def __init__(self, volume: Volume, context: DecisionContext, segments: Sequence[Segment], window: Window) -> None:
        self._volume, self._policy, self._window = volume, context.policy, window
        from_s = memory_start_s(volume, context.policy, context.now.timestamp())
        self._past = Past(segments, from_s, days_of_moves(volume))
        self.days: DaySums | None = None
        self.growth: Growth | None = None
        self.asked_for: Offer | None = None
        self.history: History | None = None
        self.earlier: BusyHours | None = None
        self._latest = (window.start_s, np.zeros((2, 0)))
        self._is_unsized = context.goes_by_history
        self._has_days = self._has_hours = self._has_rates = self._has_idle = self._has_latest = False
        self._is_weighed = self._grows_an_upgrade = False

    @classmethod
    def of(cls, volume: Volume, context: DecisionContext, memory: Sequence[Segment], window: Window) -> "Recall | None":
        """A past that nothing was asked of yet; None where the cloud, the volume or the policy has none."""
        segments = clip_memory(volume, memory)
        begins = memory_start_s(volume, context.policy, context.now.timestamp()) < window.start_s
        return cls(volume, context, segments, window) if segments and begins else None

    def size_context(self, context: DecisionContext) -> DecisionContext:
        """A context with the headroom that is learned for its history, as far as that is read."""
        if not self._has_rates:
            context = replace(context, unread=True)
        if self._is_unsized:
            return context.with_policy_headroom
        return context if self.history is None else context.knowing(self._volume, self.history)

    def is_past(self, look: Look) -> bool:
        """True for a look at the time before the window, or at the days of both."""
        return look.window.end_s <= self._window.start_s or PAST_RATES in look.groups

    def learn(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Takes in what a look found; what is `is_doubtful` then only when it was asked once more."""
        if look.window.start_s < self._window.start_s:
            self._past.learn(look, series)
            return
        unknown = np.full(look.window.buckets(DAY_S), np.nan)
        self._latest = look.window.start_s, np.stack([series.get(name, unknown) for name in NAMES[PAST_RATES]])
        self._has_latest = True

    def overhear(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Takes in the highest minutes of the window's days from a look at the window, so that nobody asks again."""
        if self._has_latest or not set(NAMES[PAST_RATES]) <= set(look.series):
            return
        if any((latest.window, latest.period_s) == (look.window, look.period_s) for latest in self._at_latest()):
            self.learn(look, series)

    def _at_latest(self) -> list[Look]:
        return look_at_latest(self._window)

    def is_doubtful(self, look: Look) -> bool:
        """True if the answer to a look has to be asked once more."""
        return self._past.is_in_doubt(look)

    def everything(self) -> list[Look]:
        """Looks at all of it at once."""
        self._has_days = self._has_hours = self._has_rates = self._has_idle = True
        return [*look_at_everything(self._past), *self._at_latest()]

    def looks(self, case: Case, answer: Recommendation, limits: Limits, query_cost: QueryCost) -> list[Look]:
        """The looks to read next for an answer; no bucket within `limits` speaks against it."""
        less = weighed_reduction(answer, case.usable)
        if self._asks_earlier(case, less) and not self._has_hours:
            self._has_hours = True
            return look_at_hours(self._earlier_days())
        if less is not None and not self._has_rates:
            self._has_days = self._has_rates = self._has_idle = True
            return [*look_at_highest(self._past), *(() if self._has_latest else self._at_latest())]
        if isinstance(answer, Upgrade) and not self._has_days:
            self._has_days = True
            return look_at_days(self._days_to_read())
        is_weighed = self._has_rates and self.asked_for is not None
        return (looks(self._past, limits, query_cost) if is_weighed else []) or self._idle_looks(case)

    def with_window(self, in_window: DaySums) -> DaySums:
        """The days of the past as far as they are read, with the days of the window."""
        return self._past.day_sums.append(in_window)

    def _idle_looks(self, case: Case) -> list[Look]:
        """Looks at the days that say whether a volume which did nothing in its window is idle, once."""
        if self._has_idle or not may_be_idle(self._volume, case.demand):
            return []
        self._has_idle = True
        asked, wanted = self._past.counted_window, days_to_know(self._window, self._policy)
        return look_at_days(Window(start_s=max(asked.start_s, wanted.start_s), end_s=asked.end_s))

    def tells_more(self, case: Case, answer: Recommendation, in_window: Callable[[], DaySums]) -> bool:
        """True if more of the past counts now than did for an answer: it is then decided again.

        `in_window` gives the days of the window.
        """
        less, is_relief = weighed_reduction(answer, case.usable), isinstance(answer, Upgrade)
        if self._asks_earlier(case, less):
            if self._has_hours or not look_at_hours(self._earlier_days()):
                self.earlier = self._past.busy_hours(self._earlier_days().start_s)
                return True
            return False
        waits = isinstance(answer, Wait) and answer.code == Unsettled.RISING
        return self._is_sized_anew(less) or self._is_weighed_anew(less, in_window, is_relief=is_relief, waits=waits)

    def _asks_earlier(self, case: Case, less: Offer | None) -> bool:
        """True if the days before the window decide whether a reduction would be outgrown."""
        if self.earlier is not None or less is None or case.settles is not None:
            return False
        return case.rise(less) is Rise.IN_EARLIER_DAYS

    def _earlier_days(self) -> Window:
        """The days before the window that a week's line is held against."""
        from_s = self._window.end_s // DAY_S * DAY_S - (EARLIER_DAYS + SHORT_DAYS) * DAY_S
        return replace(self._past.counted_window, start_s=max(self._past.counted_window.start_s, from_s))

    def _is_weighed_anew(
        self, less: Offer | None, in_window: Callable[[], DaySums], *, is_relief: bool, waits: bool
    ) -> bool:
        """Takes in what its days say of growth, and what is asked for then; whether that counts anew."""
        if self.days is None:
            if not (less or is_relief) or (look_at_days(self._days_to_read()) and not self._has_days):
                return False
            self.days = self._past.day_sums.append(in_window().as_history(self._volume, self._policy))
            if len(self._epochs()) > 1 or self._past.disputes:
                return True
        if not self._is_weighed and (less or is_relief) and not waits:
            self._is_weighed, self._grows_an_upgrade = True, is_relief
            self.growth = find_growth(self.days, self._volume, self._policy, reduces=not is_relief)
            if self.growth is not None:
                self.asked_for = None
                return True
        if self.growth is not None and self._grows_an_upgrade and not is_relief:
            self.growth = None  # Nothing that is sold carries so much: relief is not given up for that.
            return True
        if less is None or self.asked_for is not None:
            return False
        self.asked_for = less
        return self._has_rates

    def _is_sized_anew(self, less: Offer | None) -> bool:
        """Takes in what its days say of headroom, once they are read or nobody asks; whether that is another now."""
        has_rates = self._has_rates and less is not None
        if has_rates and self.history is None and (past := summarize_history(self._highest())) is not None:
            whole = summarize_history(self._highest_of_days())
            self.history = past if whole is None else replace(whole, most=past.most)
        is_known = self._has_rates or less is None
        is_new, self._is_unsized = self._is_unsized and is_known, self._is_unsized and not is_known
        return is_new

    def remember(self, case: Case) -> Case:
        """A case with what speaks against a reduction, where the window asks for one, and with what is disputed."""
        if self.days is not None and self._past.disputes:
            coverage = case.summary.coverage
            coverage = replace(coverage, disputes=(*coverage.disputes, *self._past.disputes))
            case = replace(case, summary=replace(case.summary, coverage=coverage))
        if self.asked_for is None or not self._has_rates:
            return case
        memory = weigh_past(
            self._past,
            self.asked_for,
            case.headrooms.reducing,
            case.hosts,
            self._peaks(case, self.asked_for),
            budget_min=case.policy.throttle_budget_min,
            present=case.present,
            by_minutes=case.context.goes_by_history,
        )
        return replace(case, remembered=memory, history=self.history)

    def _highest(self) -> FloatArray:
        """The highest minute of each day of its past, as far as it carried what it does now."""
        since_s = self._epochs()[-1].window.start_s
        return np.where(self._past.days_s >= since_s, self._past.highest, np.nan)

    def _highest_of_days(self) -> FloatArray:
        """The same with the whole days of the window."""
        start_s, latest = self._latest
        starts_s = start_s + DAY_S * np.arange(latest.shape[1])
        counts = (starts_s >= self._epochs()[-1].window.start_s) & ~np.isin(starts_s, days_of_moves(self._volume))
        return np.concatenate([self._highest(), np.where(counts, latest, np.nan)], axis=1)

    def _peaks(self, case: Case, asked_for: Offer) -> PastPeaks:
        """The peaks of its past that headroom can be learned from."""
        days = self._highest()
        kind, length = type_of(asked_for.spec, case.market.types), max(1, round(case.policy.risk_days))
        bare = bare_type_offer(kind, asked_for.spec.size_gib, case.market.book)
        return PastPeaks(
            days=length,
            busiest=split_into_blocks(days, length),
            free=NOTHING if bare is None else _sustained_need(bare.ceiling),
            ceiling=_sustained_need(case.present),
        )

    def _days_to_read(self) -> Window:
        """The last weeks; all days where an earlier epoch may have had another ceiling."""
        asked = self._past.counted_window
        weeks_s = self._window.end_s // DAY_S * DAY_S - WEEKS * WEEK_DAYS * DAY_S
        return asked if len(self._epochs()) > 1 else replace(asked, start_s=max(asked.start_s, weeks_s))

    def _epochs(self) -> Sequence[Epoch]:
        return epochs_of(self._volume, replace(self._past.counted_window, end_s=self._window.end_s))


def _sustained_need(ceiling: Ceiling) -> Need:
    """The rates that a ceiling carries without credits."""
    return Need(iops=ceiling.sustained_iops, throughput_mib_s=ceiling.sustained_throughput_mib_s)


def reduced_to(answer: Recommendation | None, present: Ceiling) -> Offer | None:
    """The offer that lowers a limit, now, after a wait or with all of its template; None where the answer lowers
    none."""
    offer: Offer | None = None
    if isinstance(answer, Change):
        offer = answer.target
    elif isinstance(answer, Wait):
        offer = answer.expected
    elif isinstance(answer, Keep):
        offer = answer.beneath
    return offer if offer is not None and is_reduction(offer, present) else None


def weighed_reduction(answer: Recommendation | None, present: Ceiling) -> Offer | None:
    """The same, or what is left out for its risk or its trend so far: with more history it may not be."""
    if isinstance(answer, Change | Keep):
        if answer.too_risky is not None:
            return answer.too_risky.offer
        if answer.comparison.lowering is not None:
            return answer.comparison.lowering
    return reduced_to(answer, present)


def limits_of_answer(case: Case, answer: Recommendation) -> Limits:
    """The limits within which no bucket speaks against an answer: those of the reduction that is weighed, and of the
    cheapest offer that carries the past so far."""
    if not isinstance(answer, Keep | Change | Wait):
        return UNLIMITED
    best, chosen = answer.comparison.offers[0], weighed_reduction(answer, case.usable)
    offers = [offer for offer in (chosen, best if best.feasible else None) if offer is not None]
    return strictest([uneventful_limits(offer, case.headrooms.reducing, case.hosts, case.present) for offer in offers])


def strictest(limits: Sequence[Limits]) -> Limits:
    """The least of some limits on each side."""
    return (
        min((limit[0] for limit in limits), default=UNLIMITED[0]),
        min((limit[1] for limit in limits), default=UNLIMITED[1]),
    )


FIRST_DAYS: Final = 8
"""The days that are read by the hour first."""

_WORK: Final = (OPERATIONS, BYTES)


def look_at_everything(past: Past) -> list[Look]:
    """All of it, as finely as it is kept, and the highest minute of each day."""
    whole = (Look(window=segment.window, period_s=segment.period_s, groups=_WORK) for segment in past.segments)
    return [*look_at_highest(past), *whole]


def look_at_days(window: Window) -> list[Look]:
    """A look at the work of each day."""
    return [Look(window=window, period_s=DAY_S, groups=_WORK)] if window.start_s < window.end_s else []


def look_at_hours(window: Window) -> list[Look]:
    """A look at the work of each hour."""
    return [Look(window=window, period_s=HOUR_S, groups=_WORK)] if window.start_s < window.end_s else []


def look_at_highest(past: Past) -> list[Look]:
    """The highest minute of each day, and what was done on it: what one says the other has to bear out."""
    return [Look(window=past.counted_window, period_s=DAY_S, groups=(PAST_RATES, *_WORK))]


def look_at_latest(window: Window) -> list[Look]:
    """The highest minute of each whole day of a window: the same figure however finely its counters are read."""
    days = Window(start_s=-(-window.start_s // DAY_S) * DAY_S, end_s=window.end_s // DAY_S * DAY_S)
    return [Look(window=days, period_s=DAY_S, groups=(PAST_RATES,))] if days.start_s < days.end_s else []


def looks(past: Past, limits: Sequence[float], query_cost: QueryCost) -> list[Look]:
    """Looks at the buckets that may have had more than the `limits` (IOPS and MiB/s).

    Days by the hour, hours as finely as they are kept. The highest days are read before the others: what they had may
    speak against so much that few others can more.
    """
    over = (past.most / np.maximum(make_column(limits), TOLERANCE)).max(axis=0)
    wanted = (past.lengths_s > past.finest_s) & (over > 1)
    if (past.lengths_s == DAY_S).all():
        wanted[np.argsort(-over, kind="stable")[FIRST_DAYS:]] = False
    asked: list[Look] = []
    for length_s, period_s in ((DAY_S, HOUR_S), (HOUR_S, LEAST_MEMORY_PERIOD_S)):
        at = wanted & (past.lengths_s == length_s)
        for finest_s in np.unique(past.finest_s[at]).tolist():
            starts_s = past.starts_s[at & (past.finest_s == finest_s)]
            asked += _runs(starts_s, length_s, max(period_s, finest_s), query_cost.datapoints_a_query)
    return asked


def _runs(starts_s: IntArray, length_s: int, period_s: int, spare: float) -> list[Look]:
    """Looks at buckets of one length; neighbors, and what lies between them, are one where that costs less than a
    query."""
    apart = np.flatnonzero((np.diff(starts_s) - length_s) / period_s > spare) + 1
    return [
        Look(
            window=Window(start_s=int(run[0]), end_s=int(run[-1]) + length_s),
            period_s=period_s,
            groups=_WORK,
        )
        for run in np.split(starts_s, apart)
        if len(run)
    ]


def may_be_idle(volume: Volume, demand: Demand) -> bool:
    """A volume is attached, was observed in its window, and surely did nothing in it."""
    is_attached = volume.state is VolumeState.IN_USE and bool(volume.attachments)
    return is_attached and bool(demand.observed.any()) and not demand.most[IOPS].any()
