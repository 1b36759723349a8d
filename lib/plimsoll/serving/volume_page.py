"""The page of one volume: its reasons, what fewer minutes would cost, and the answers of earlier runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console

from plimsoll.model.errors import BadInput
from plimsoll.reports.html.page import first_script, hash_of, style, templates_of
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_reader import find_record, full_name, read_run
from plimsoll.reports.terminal.explain import show_record
from plimsoll.reports.wording import change_words, outcome_text, short_name, spec_text, usd

MOST_RUNS: Final = 60
"""The most runs that are looked through, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAnswer:
    """A recommendation of a run, and when the run was made."""

    run: str
    at: datetime
    record: RecommendationRecord


def volume_history(volume: str, runs_dir: Path) -> Iterator[PastAnswer]:
    """The recommendations of a folder's runs for a volume (account/region/id), the newest first.

    Runs that cannot be read, or that do not have the volume, are passed over.
    """
    for at, folder in sorted(_runs(runs_dir), reverse=True)[:MOST_RUNS]:
        try:
            record = find_record(folder, volume)
        except (BadInput, OSError):
            continue
        if record is not None:
            yield PastAnswer(run=folder.name, at=at, record=record)


def _runs(runs_dir: Path) -> Iterator[tuple[datetime, Path]]:
    for path in runs_dir.glob(f"*/{RUN}"):
        try:
            yield read_run(path.parent).as_of, path.parent
        except (BadInput, KeyError, TypeError, ValueError, ArithmeticError, OSError):
            continue


WIDTH: Final = 110
"""Characters of a line of what `plimsoll explain` shows."""

_WAITING: Final = """setInterval(async () => {
  try {
    if ((await fetch('/state.json', { cache: 'no-store' })).ok) location.reload();
  } catch { /* the server is gone: what is shown stays */ }
}, 3000);
"""
"""Asks whether there is a run now."""


def volume_page(
    record: RecommendationRecord, profile: DemandProfileRecord | None, past: Sequence[PastAnswer], link: str
) -> str:
    """A volume of the run that is shown, with its history; `link` is where its cloud's console shows its demand."""
    environment = templates_of("plimsoll.serving")
    environment.filters.update(
        change_words=change_words, outcome_text=outcome_text, short_name=short_name, spec_text=spec_text, usd=usd
    )
    return environment.get_template("volume.html.j2").render(
        style=style(),
        early=first_script(),
        hashes=[hash_of(first_script())],
        record=record,
        name=full_name(record),
        explained=_explanation_text(record, profile, link),
        past=past,
    )


def message_page(title: str, text: str, *, waits: bool = False) -> str:
    """A page with a sentence. One that `waits` becomes the report as soon as there is one."""
    template = templates_of("plimsoll.serving").get_template("message.html.j2")
    script = _WAITING if waits else ""
    return template.render(style=style(), title=title, text=text, script=script, hash=hash_of(script))


def _explanation_text(record: RecommendationRecord, profile: DemandProfileRecord | None, link: str) -> str:
    """The text of `plimsoll explain --all` for the volume."""
    text = StringIO()
    console = Console(file=text, width=WIDTH, no_color=True, highlight=False)
    show_record(console, record, profile, link or None, whole=True)
    return text.getvalue()
