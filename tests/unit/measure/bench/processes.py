"""What still runs."""

from pathlib import Path


def working_in(folder: Path) -> list[str]:
    """The processes that have their working directory under a folder."""
    return [process.name for process in Path("/proc").glob("[0-9]*") if _works_in(process, folder)]


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink().is_relative_to(folder)
    except OSError:
        return False
