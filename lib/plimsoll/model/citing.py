"""Names of sources: what a measurement is called, and where it can be opened."""

import re
from datetime import date
from typing import Final

_REPOSITORY: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:#(?P<issue>\d+))?")


def name_own(days: tuple[date, date] | None, subject: str) -> str:
    """The name of a user's own measurement, e.g. "your measurement of 12 November 2026 on gp3 500 GiB".

    `days` are the first and last day that its date can mean.
    """
    when = "" if days is None else f" of {_days_text(*days)}"
    return f"your measurement{when} {subject}"


def locate(name: str, place: str | None) -> str:
    """The name of a source and where it can be opened. A name like owner/repository is one of GitHub."""
    repository = _REPOSITORY.fullmatch(name)
    if repository is not None:
        issue = f"/issues/{repository['issue']}" if repository["issue"] else ""
        name = f"github.com/{repository['name']}{issue}"
    return f"{name}: {place}" if place else name


def _days_text(first: date, last: date) -> str:
    if first == last:
        return f"{first.day} {first:%B %Y}"
    return f"{first:%B %Y}" if first.month == last.month else f"{first:%Y}"
