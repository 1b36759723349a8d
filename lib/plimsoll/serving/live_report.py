"""The report and the metrics of the newest run as files, made anew if the run has gone on."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from plimsoll.api.runs import plain_name, run_folder, written_ns
from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.files import write_lines
from plimsoll.orders import read_order
from plimsoll.reports.html.page import Live, write_html
from plimsoll.reports.open_metrics import metrics_lines
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import PAGE, PROMETHEUS_FILE, RUN
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


@dataclass(slots=True)
class _LiveFile:
    """A file that is made of a run: of which run and version it is, and when it may be made anew."""

    write: Callable[[Path, Path, str], None]
    out: Path
    folder: Path | None = None
    version: str = ""
    next_s: float = float("-inf")
    lock: Lock = field(default_factory=Lock, repr=False)


@dataclass(slots=True, kw_only=True)
class LiveReport:
    """The report of a run: of the one whose folder is named, or of the newest that has answers.

    Several threads may use it.
    `place` is a folder of this process's own. `clock` gives seconds.
    """

    place: Path
    run: Path | None = None
    clock: Callable[[], float] = time.monotonic
    _page: _LiveFile = field(init=False, repr=False)
    _metrics: _LiveFile = field(init=False, repr=False)
    _folder: Path | None = None

    def __post_init__(self) -> None:
        self._page = _LiveFile(_write_page, self.place / PAGE)
        self._metrics = _LiveFile(_write_metrics, self.place / PROMETHEUS_FILE)

    def page(self) -> Path:
        """The report's file, at most some seconds behind. Raises BadInput if there is no run."""
        return self._bring_up_to_date(self._page)

    def metrics(self) -> Path:
        """The file of the run's metrics; it is as old, and errors are, as of `page`."""
        return self._bring_up_to_date(self._metrics)

    def _bring_up_to_date(self, file: _LiveFile) -> Path:
        with file.lock:
            folder = self.folder()
            version = _version(folder)
            if version != file.version and not self._is_recent(file, folder):
                began_s = self.clock()
                file.write(run_folder(folder), file.out, version)
                file.version, file.folder = version, folder
                file.next_s = self.clock() + max(LEAST_PAUSE_S, TIMES * (self.clock() - began_s))
            return file.out

    def state(self) -> State:
        """The version that `page` would give now, and how far the run is. Raises BadInput if there is no run."""
        folder = self.folder()
        run = read_run(folder)
        running = run.status == RUNNING
        version = self._page.version if self._is_recent(self._page, folder) else _version(folder)
        return State(version=version, told=_progress_sentence(run), running=running)

    def _is_recent(self, file: _LiveFile, folder: Path) -> bool:
        """True if the file was made of that run so lately that it stays as it is."""
        return folder == file.folder and self.clock() < file.next_s

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


def _write_page(folder: Path, out: Path, version: str) -> None:
    order = read_order(folder)

    def link(record: RecommendationRecord) -> str:
        return console_link(record, order.policy, order.now)

    envelopes = envelope_library(Settings.from_environment().measured_dir).envelopes
    write_html(folder, out, envelopes=envelopes, console_link=link, live=Live(version=version))


def _write_metrics(folder: Path, out: Path, _version: str) -> None:
    write_lines(metrics_lines(folder), out, "utf-8")


def _progress_sentence(run: RunRecord) -> str:
    """A sentence on how far a run is."""
    volumes, saved = run.volumes, usd(run.monthly_usd.saved)
    if run.status == RUNNING:
        return f"Auditing: {volumes.answered:,} of {volumes.seen:,} volumes so far, which save {saved} a month."
    return f"Audited {run.as_of:%Y-%m-%d %H:%M} UTC: {run.status}."
