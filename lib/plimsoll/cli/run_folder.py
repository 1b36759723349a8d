"""The folder of a run: which one is meant, and the reports that are left in it."""

from pathlib import Path

from rich.console import Console

from plimsoll.domain.errors import BadInput
from plimsoll.reports.run_reader import RUN
from plimsoll.settings import Settings


def run_folder(path: Path | None) -> Path:
    """The folder of a run: the one given, or the run under the folder of runs that was written last.

    BadInput where it holds no run, or there is no run yet.
    """
    if path is not None:
        if (path / RUN).is_file():
            return path
        raise BadInput(f"{path} holds no {RUN}: give the folder of a run, such as one under plimsoll-runs.")
    runs_dir = Settings.of_environment().runs_dir
    written = [(found.stat().st_mtime_ns, found.parent.name) for found in runs_dir.glob(f"*/{RUN}")]
    if not written:
        raise BadInput(f"there is no run under {runs_dir} yet: give the folder of one, or begin with `plimsoll audit`.")
    return runs_dir / max(written)[1]


def leave_reports(console: Console, folder: Path) -> bool:
    """Writes what every audit leaves in a run's folder, and says where. False where that was not possible."""
    from plimsoll.cli.report import leave_reports as leave  # noqa: PLC0415  # nobody waits for it before there is a run

    return leave(console, folder)
