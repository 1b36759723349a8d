"""What is said where more was carried than the record says that the volume could."""

from collections.abc import Iterator
from datetime import UTC, datetime

from plimsoll.domain.case import Case
from plimsoll.domain.reason import Reason


def against_record(case: Case) -> Iterator[Reason]:
    """Up to when its configuration cannot have been that on record, and which minute was counted twice."""
    for epoch in case.epochs:
        if epoch.on_record is not None:
            yield Reason(
                "above-record",
                f"Up to {_moment(epoch.window.end_s)} it did more than {epoch.on_record} carries, which is on record "
                "for that time. It was something larger then. The demand of that time counts as it was measured, and "
                "none of it is called throttled.",
            )
        if epoch.doubled_s is not None:
            yield Reason(
                "doubled-point",
                f"The minute of {_moment(epoch.doubled_s)} has twice what the volume can carry, between ordinary ones. "
                "It was counted twice, and is taken to be at the ceiling.",
            )


def _moment(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M} UTC"
