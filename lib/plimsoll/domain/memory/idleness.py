"""Idleness: for how long a volume is known to have done nothing, although it is attached (docs/decision.md, section 8).

A day counts if the cloud has points of it, and they are zero. What was not received proves nothing.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.domain.demand.day_sums import DaySums
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Idleness
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume, VolumeState

AROUND: Final = timedelta(days=5)
"""How long before and after the end of a quarter its work may be done."""


def may_be_idle(volume: Volume, demand: Demand) -> bool:
    """Whether a volume is attached, was observed in its window, and surely did nothing in it."""
    is_attached = volume.state is VolumeState.IN_USE and bool(volume.attachments)
    return is_attached and bool(demand.observed.any()) and not demand.most_iops.any()


def days_to_know(window: Window, policy: Policy) -> Window:
    """The days before a window that have to be known: those of the policy, and the end of the last quarter."""
    end_s = window.end_s // DAY_S * DAY_S
    since_s = min(end_s - round(policy.idle_days) * DAY_S, _seconds(_last_quarter(end_s) - AROUND))
    return Window(start_s=min(since_s, window.start_s), end_s=window.start_s)


def idleness_of(volume: Volume, days: DaySums, window: Window, policy: Policy) -> Idleness | None:
    """How long a volume has done nothing by its days, those of the window included; None if less than is asked for.

    Days before those that have to be known count for nothing: they may be known by chance.
    """
    nothing = days.totals[0] == 0
    asked = (days.end_s - days_to_know(window, policy).start_s) // DAY_S
    count = min(asked, len(nothing) if nothing.all() else int(np.argmin(nothing[::-1])))
    if not count or count < policy.idle_days:
        return None
    quarter = _last_quarter(days.end_s)
    if volume.created.date() > quarter:
        return Idleness(days=count, quarter=None)
    around = (days.starts_s >= _seconds(quarter - AROUND)) & (days.starts_s <= _seconds(quarter + AROUND))
    whole = int(around.sum()) == 2 * AROUND.days + 1 or days.end_s <= _seconds(quarter + AROUND)
    made = days.starts_s + DAY_S > volume.created.timestamp()
    return Idleness(days=count, quarter=quarter) if whole and nothing[around & made].all() else None


def _last_quarter(end_s: int) -> date:
    """The last day of the last quarter that was over at a time."""
    today = datetime.fromtimestamp(end_s, UTC).date()
    return date(today.year, (today.month - 1) // 3 * 3 + 1, 1) - timedelta(days=1)


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
