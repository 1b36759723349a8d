"""Runs: what an audit left in a folder, read as a stream."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.clouds.registry import volume_pattern
from plimsoll.model.errors import BadInput
from plimsoll.reports import run_reader
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_folder import bring_up_to_date
from plimsoll.reports.run_reader import UnansweredRecord
from plimsoll.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of an audit: its folder, and the content of its run.json when it was read (docs/results-as-data.md).

    Iterating gives the recommendations one by one, so that memory does not grow with the fleet.
    """

    folder: Path
    summary: Mapping[str, Any]

    def __iter__(self) -> Iterator[RecommendationRecord]:
        """The recommendations, as recommendations.json has them; BadInput where the file is damaged."""
        return run_reader.stream_records(self.folder)

    @property
    def status(self) -> str:
        """`complete`, `partial` where something could not be read, `interrupted`, or `running`."""
        return str(self.summary["status"])

    @property
    def monthly_usd_saved(self) -> float:
        """The saving of all recommendations together, USD a month."""
        return float(self.summary["monthly_usd"]["saved"])

    def recommendation(self, volume: str) -> RecommendationRecord | None:
        """A volume's recommendation by its id, account/region/id, Name tag or how its id begins; None without one.

        BadInput lists several volumes that are called so.
        """
        return run_reader.find_record(self.folder, volume)

    def demand(self, volume: str) -> DemandProfileRecord | None:
        """The demand of a volume over time; None if no metrics were read. Names and errors are as above."""
        record = run_reader.find_record(self.folder, volume)
        return None if record is None else run_reader.find_profile(self.folder, run_reader.full_name(record))

    def unanswered(self) -> Iterator[UnansweredRecord]:
        """The volumes without a recommendation, each with the reason."""
        return run_reader.stream_unanswered(self.folder)


def read_run(folder: Path | str | None = None) -> Run:
    """The run in a folder, or the newest one that has answers. BadInput where there is none."""
    place = run_folder(None if folder is None else Path(folder))
    return Run(folder=place, summary=run_reader.read_run(place).plain)


def written_ns(path: Path) -> int:
    """When a file was written; 0 if it is gone meanwhile, or its link leads nowhere."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def run_folder(path: Path | None) -> Path:
    """The folder of a run: the one given, by itself or by one of its files, else the newest run that has answers.

    Its files hold all that the run answered, also where it was killed. BadInput where it holds no run, or there is
    none.
    """
    if path is not None:
        folder = find_run(path)
        bring_up_to_date(folder)
        return folder
    newest = next(filter(_has_answers, list_runs()), None)
    if newest is None:
        raise BadInput(
            f"no run under {Settings.from_environment().runs_dir} has answers yet: give the folder of one, or begin "
            "with `plimsoll audit`."
        )
    return newest


def find_run(path: Path) -> Path:
    """The folder of a run, given by itself or by one of its files, as it is. BadInput where it holds no run."""
    folder = path.parent if path.is_file() and is_run(path.parent) else path
    if is_run(folder):
        return folder
    if re.fullmatch(volume_pattern(), str(path)):
        raise BadInput(f"{path} is a volume, and a run's folder is wanted here. See it with: plimsoll explain {path}")
    raise BadInput(f"{path} holds no {RUN}: give the folder of a run, such as one under plimsoll-runs.")


def list_runs() -> list[Path]:
    """The folders of all runs on this machine, the one that was written last first."""
    files = Settings.from_environment().runs_dir.glob(f"*/{RUN}")
    return [file.parent for file in sorted(files, key=written_ns, reverse=True)]


def plain_name(folder: Path) -> str:
    """The name of a run, also if the name of its folder is no UTF-8."""
    return folder.name.encode("utf-8", errors="replace").decode()


def is_run(path: Path) -> bool:
    """True for the folder of a run."""
    try:
        return (path / RUN).is_file()
    except (OSError, ValueError):  # what cannot be a path, such as a long query
        return False


def _has_answers(folder: Path) -> bool:
    """True if a run answered any volume, or cannot be read, so that whoever reads it is told why."""
    try:
        bring_up_to_date(folder)
        return bool(run_reader.read_run(folder)) and any(True for _ in run_reader.stream_records(folder))
    except BadInput:
        return True
