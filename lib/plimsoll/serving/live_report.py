"""The report of the newest run as a file, made anew if the run has gone on."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from plimsoll.api.runs import plain_name, run_folder, written_ns
from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.orders import read_order
from plimsoll.reports.html.page import Live, write_html
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_folder import JOURNAL, RUNNING
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.wording import usd
from plimsoll.settings import Settings

LEAST_PAUSE_S: Final = 5.0
"""A report is made anew after so many seconds at the earliest."""
TIMES: Final = 4.0
"""And after so many times the seconds that the last one took: most of the time belongs to the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of a run for a reader: which version of its report there is, and how far it is."""

    version: str
    told: str
    running: bool


@dataclass(slots=True, kw_only=True)
class LiveReport:
    """The report of a run: of the one whose folder is named, or of the newest that has answers.

    Several threads may use it.
    `place` is a folder of this process's own. `clock` gives seconds.
    """

    place: Path
    run: Path | None = None
    clock: Callable[[], float] = time.monotonic
    _lock: Lock = field(default_factory=Lock, repr=False)
    _folder: Path | None = None
    _shown: Path | None = None
    _version: str = ""
    _next_s: float = float("-inf")

    def page(self) -> Path:
        """The report's file, at most some seconds behind. Raises BadInput if there is no run."""
        with self._lock:
            out = self.place / "report.html"
            folder = self.folder()
            version = _version(folder)
            if version != self._version and not self._is_recent(folder):
                began_s = self.clock()
                _write(run_folder(folder), out, version)
                self._version, self._shown = version, folder
                self._next_s = self.clock() + max(LEAST_PAUSE_S, TIMES * (self.clock() - began_s))
            return out

    def state(self) -> State:
        """The version that `page` would give now, and how far the run is. Raises BadInput if there is no run."""
        folder = self.folder()
        run = read_run(folder)
        running = run.status == RUNNING
        version = self._version if self._is_recent(folder) else _version(folder)
        return State(version=version, told=_progress_sentence(run), running=running)

    def _is_recent(self, folder: Path) -> bool:
        """True if the report of that run was made so lately that it stays as it is."""
        return folder == self._shown and self.clock() < self._next_s

    def folder(self) -> Path:
        """The folder of the shown run."""
        if self.run is not None:
            return self.run
        if self._folder is None or _newest(self._folder.parent) != self._folder:
            self._folder = run_folder(None)
        return self._folder


def _newest(runs_dir: Path) -> Path | None:
    """The folder whose run.json was written last."""
    by_age = {path: written_ns(path) for path in runs_dir.glob(f"*/{RUN}")}
    return max(by_age, key=lambda path: by_age[path]).parent if by_age else None


def _version(folder: Path) -> str:
    """A text that changes whenever a run has more to show."""
    sizes = [path.stat().st_size if path.exists() else 0 for path in (folder / JOURNAL, folder / RUN)]
    return f"{plain_name(folder)}/{sizes[0]}/{read_run(folder).status}"


def _write(folder: Path, out: Path, version: str) -> None:
    order = read_order(folder)

    def link(record: RecommendationRecord) -> str:
        return console_link(record, order.policy, order.now)

    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    write_html(folder, out, envelopes=envelopes, console_link=link, live=Live(version=version))


def _progress_sentence(run: RunRecord) -> str:
    """A sentence on how far a run is."""
    volumes, saved = run.volumes, usd(run.monthly_usd.saved)
    if run.status == RUNNING:
        return f"Auditing: {volumes.answered:,} of {volumes.seen:,} volumes so far, which save {saved} a month."
    return f"Audited {run.as_of:%Y-%m-%d %H:%M} UTC: {run.status}."
