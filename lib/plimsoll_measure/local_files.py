"""The files of measurements and probes under way on this machine."""

import time
from contextlib import suppress
from typing import Final

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.local_store import FileClaims, FolderStore
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.units import HOUR_S
from plimsoll.ports import Claims, RunStore
from plimsoll.settings import Settings
from plimsoll_measure.validation.job import JOBS

CLAIMS_FOLDER: Final = "claims"
"""The folder of claims, in the folder of what was measured."""


def validation_claims(settings: Settings) -> Claims:
    """The claims of processes that measure a class of volumes now."""
    return FileClaims(folder=settings.measured_dir / CLAIMS_FOLDER)


def validation_jobs(settings: Settings) -> RunStore:
    """The documents of validations under way, or whose process was killed."""
    for emptied in (settings.runs_dir / JOBS).glob("*"):
        with suppress(OSError):  # one that is not empty, or that another process removed
            if time.time() - emptied.stat().st_mtime > HOUR_S:
                emptied.rmdir()
    return FolderStore(settings.runs_dir)


def probe_store(settings: Settings) -> RunStore:
    """The documents of probes under way."""
    return FolderStore(settings.runs_dir)


def bench_patience(settings: Settings) -> BenchPatience:
    """The time limits for a bench."""
    return BenchPatience.from_settings(settings, now=clock().now, pause=time.sleep)
