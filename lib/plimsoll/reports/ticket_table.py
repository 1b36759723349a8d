"""Tickets: a line of CSV for each change that can be made now, as Jira and ServiceNow import them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from plimsoll.reports.change_files import FIRST_TO_DO, UNKNOWN_WAY_BACK, is_open_change
from plimsoll.reports.csv_table import cell, csv_line
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.steps import STEP_TITLES, Step, step_of
from plimsoll.reports.wording import (
    change_words,
    cut,
    losses_in_words,
    outcome_text,
    owner_text,
    risk_in_words,
    short_name,
    words_of,
)

_MOST_SUMMARY: Final = 160
"""The characters of a summary: ServiceNow's short description has room for so many, and Jira for 255."""

_MOST_DESCRIPTION: Final = 30_000
"""The characters of a description: Jira and a spreadsheet's cell have room for 32,767."""

_PRIORITIES: Final[Mapping[Step, str]] = {Step.THROTTLED: "High", Step.SAFE: "Medium", Step.PROVED: "Medium"}
"""The priorities of steps, by names that Jira has from the beginning; Low for the others."""

_E_MAIL: Final = re.compile(r"[^@\s,;<>\"']+@[^@\s,;<>\"']+\.[A-Za-z]{2,}")

_OWNER_TAG: Final = "owner"


def ticket_lines(records: Iterable[RecommendationRecord], run: RunRecord) -> Iterator[str]:
    """The lines of a CSV file with a ticket for each change that nothing blocks."""
    yield csv_line(_COLUMNS)
    for record in filter(is_open_change, records):
        yield csv_line(cell(find(record, run)) for find in _COLUMNS.values())


def _summary(record: RecommendationRecord, _run: RunRecord) -> str:
    return cut(f"Change {short_name(record)}: {change_words(record)}, {outcome_text(record)}", _MOST_SUMMARY)


def _assignee(record: RecommendationRecord, _run: RunRecord) -> str | None:
    """The e-mail address by which importers know people, where the owner or a shown tag `owner` is one."""
    tags = (value for key, value in record.tags.items() if key.casefold() == _OWNER_TAG)
    return next((name for name in (record.owner.name, *tags) if name and _E_MAIL.fullmatch(name)), None)


def _description(record: RecommendationRecord, run: RunRecord) -> str:
    """All of a change in sentences. What must not be cut stands first: the change, and the way back."""
    return "\n".join(_description_lines(record, run))[:_MOST_DESCRIPTION]


def _description_lines(record: RecommendationRecord, run: RunRecord) -> Iterator[str]:
    step, words = step_of(record), words_of(record.provider)
    yield f"{change_words(record)}: {outcome_text(record)}."
    yield f"Where: {words.cloud} {words.account} {record.account}, {record.zone}, {record.volume_id}"
    yield f"Attached to: {', '.join(record.hosts) or 'no host'}"
    yield f"Owner: {owner_text(record.owner)}"
    yield f"To do: {STEP_TITLES[step]}. {FIRST_TO_DO.get(step, '')}".rstrip()
    yield f"Gives up: {_gives_up(record, run)}"
    yield f"Risk: {risk_in_words(record)}"
    together = record.stripe_set.members if record.stripe_set is not None else record.pool
    if together:
        yield f"Changed together with: {', '.join(together)}"
    yield f"\nChange:\n{record.change}"
    yield f"\nWay back:\n{_way_back(record, run)}\n{words.way_back}"
    yield f"\nFrom the Plimsoll run {run.id} of {_date(record, run)} UTC, version {_version(record, run)}."
    if record.reasons:
        yield "\nWhy:"
        yield from record.reasons
    if record.evidence is not None:
        yield f"\nEvidence {record.evidence.grade}: {record.evidence.text}"
        yield from (f"Source: {source}" for source in record.evidence.sources)


def _gives_up(record: RecommendationRecord, _run: RunRecord) -> str:
    cuts = [f"a part of the limit of {side}" for side in record.cuts]
    return "; ".join([*cuts, *losses_in_words(record)]) or "nothing"


def _way_back(record: RecommendationRecord, _run: RunRecord) -> str:
    return record.way_back or UNKNOWN_WAY_BACK


def _date(_record: RecommendationRecord, run: RunRecord) -> str:
    return f"{run.as_of:%Y-%m-%d %H:%M}"


def _version(_record: RecommendationRecord, run: RunRecord) -> str:
    return run.versions.get("plimsoll", "unknown")


_COLUMNS: Final[Mapping[str, Callable[[RecommendationRecord, RunRecord], object]]] = {
    "Summary": _summary,
    "Issue Type": lambda _record, _run: "Task",
    "Priority": lambda record, _run: _PRIORITIES.get(step_of(record), "Low"),
    "Labels": lambda record, _run: f"plimsoll-{step_of(record)}",
    "Assignee": _assignee,
    "Description": _description,
    "External ID": lambda record, _run: f"{record.account}/{record.region}/{record.volume_id}",
    "Owner": lambda record, _run: owner_text(record.owner),
    "Account": lambda record, _run: record.account,
    "Region": lambda record, _run: record.region,
    "Volume": lambda record, _run: record.volume_id,
    "Saves USD a month": lambda record, _run: record.monthly_usd_saved,
    "Gives up": _gives_up,
    "Risk": lambda record, _run: risk_in_words(record),
    "Change": lambda record, _run: record.change,
    "Way back": _way_back,
    "Run": lambda _record, run: run.id,
    "Run date": _date,
    "Plimsoll version": _version,
}
"""The columns by their names, in which Jira wants no punctuation, each with the cell of a ticket."""
