"""The clock that runs go by."""

from datetime import UTC, datetime

from plimsoll.ports import Clock


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


def clock() -> Clock:
    """The clock that runs go by."""
    return SystemClock()
