"""Names of sources: what people call what was measured, and where it can be opened."""

import re
from datetime import date
from typing import Final

_REPOSITORY: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:#(?P<issue>\d+))?")


def name_own(days: tuple[date, date] | None, subject: str) -> str:
    """A user's own measurement, by the days that its date can mean: your measurement of 12 November 2026 on gp3."""
    when = "" if days is None else f" of {_in_words(*days)}"
    return f"your measurement{when} {subject}"


def locate(name: str, place: str | None) -> str:
    """A source by its name and where it can be opened. What is named like a repository is one of GitHub."""
    repository = _REPOSITORY.fullmatch(name)
    if repository is not None:
        issue = f"/issues/{repository['issue']}" if repository["issue"] else ""
        name = f"github.com/{repository['name']}{issue}"
    return f"{name}: {place}" if place else name


def _in_words(first: date, last: date) -> str:
    if first == last:
        return f"{first.day} {first:%B %Y}"
    return f"{first:%B %Y}" if first.month == last.month else f"{first:%Y}"
