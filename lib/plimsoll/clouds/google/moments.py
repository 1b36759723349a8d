"""Moments: times as Google writes them."""

from datetime import UTC, datetime

from plimsoll.domain.errors import Unexpected


def moment(written: str) -> datetime:
    """The time, in UTC, of an RFC 3339 text with any offset; Unexpected where it is none."""
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except ValueError as error:
        raise Unexpected(
            f"Google wrote a time as {written!r}, which is none. Run again; if it stays so, report it with that text."
        ) from error
