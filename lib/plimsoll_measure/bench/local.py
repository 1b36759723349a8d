"""A job that fio runs on this machine: in a folder of its own or on an empty device. Nothing is left behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from struct import pack
from typing import Final

from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll.model.units import MIB
from plimsoll_measure.bench.answer import check_io
from plimsoll_measure.bench.jobs import job_files, job_seconds
from plimsoll_measure.bench.write_places import BenchTarget

LEAST_FILE_BYTES: Final = 64 * MIB
"""Smaller files measure caches rather than a volume. This is twice the largest I/O of any job."""

FOLDER_PREFIX: Final = "plimsoll-benchmark-"
TICK_S: Final = 0.2
GRACE_S: Final = 5.0

_NO_NUMBER: Final = re.compile(r"(:\s*)-?(?:nan|inf)\b")
"""C's text for no number. JSON has none."""

_BLKZEROOUT: Final = 0x127F
_ZEROED_AT_ONCE: Final = 64 * MIB

PhaseWatch = Callable[[str, float], None]
"""A callback with the present phase (preparing, measuring, emptying) and its seconds so far."""

PHASE_PREPARING: Final = "preparing"
PHASE_MEASURING: Final = "measuring"
PHASE_EMPTYING: Final = "emptying"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJob:
    """A job with its target, the job that fills that target first, and the bytes that both take up."""

    target: BenchTarget
    job: str
    preparation: str
    taken_bytes: int

    @property
    def seconds(self) -> int:
        """Seconds of measuring, ramps included. Filling comes on top."""
        return job_seconds(self.job)


def fio_path() -> str:
    """The path of fio. Raises NotMeasured, with the way to install it, if it is missing."""
    path = shutil.which("fio")
    if path is None:
        raise NotMeasured(
            "fio is not installed, and measuring needs it: install it with apt-get install fio, dnf install fio, "
            "yum install fio, zypper install fio or brew install fio."
        )
    return path


def place_job(job: str, target: BenchTarget, *, file_bytes: int | None = None) -> PlacedJob:
    """A job on a target. Its files have `file_bytes` each, or the job's own size, and fit on a device.

    Raises BadInput if the files become too small to measure with.
    """
    count, own_bytes = job_files(job)
    size = file_bytes or own_bytes
    if target.is_device:
        size = min(size, target.size_bytes // count // MIB * MIB)
    if size < LEAST_FILE_BYTES:
        raise BadInput(
            f"{count} files of {size / MIB:,.0f} MiB on {target.path} are too small to measure a volume with: "
            f"each needs {LEAST_FILE_BYTES // MIB} MiB."
        )
    # Jobs as threads: processes of fio's have sessions of their own, and outlive a fio that has to be killed.
    where = ["thread=1", f"size={size}"]
    if target.is_device:
        where += [f"filename={target.path}", *([f"offset_increment={size}"] if count > 1 else [])]
    sized = re.sub(r"^size=.*\n", "", job, flags=re.MULTILINE)
    named = re.search(r"^filename_format=.*$", job, flags=re.MULTILINE)
    lines = ["[global]", *where, *([named.group(0)] if named else [])]
    filling = ["ioengine=psync", "direct=1", "rw=write", "bs=1m", "refill_buffers", "end_fsync=1", "group_reporting"]
    return PlacedJob(
        target=target,
        job=sized.replace("[global]\n", "\n".join(["[global]", *where, ""]), 1),
        preparation="\n".join([*lines, *filling, f"numjobs={count}", "", "[filling]", ""]),
        taken_bytes=count * size,
    )


def run(placed_job: PlacedJob, *, limit_s: float, watch: PhaseWatch) -> str:
    """Fills the target, runs the job, removes all that was written, and returns fio's JSON.

    Raises NotMeasured if fio fails or all of it takes longer than `limit_s`. Whatever ends it, Ctrl-C included, fio is
    stopped and the target is as it was.
    """
    fio = fio_path()
    deadline = time.monotonic() + limit_s
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as notes, _place(placed_job, watch) as folder:
        _fio(
            fio, placed_job.preparation, Path(notes), folder, deadline, lambda spent_s: watch(PHASE_PREPARING, spent_s)
        )
        return _fio(fio, placed_job.job, Path(notes), folder, deadline, lambda spent_s: watch(PHASE_MEASURING, spent_s))


@contextmanager
def _place(placed_job: PlacedJob, watch: PhaseWatch) -> Iterator[Path]:
    """The folder that fio runs in, removed afterwards. Of a device `/`, and the device is emptied."""
    if placed_job.target.is_device:
        try:
            yield Path("/")
        finally:
            with _ignore_signals():
                _empty(placed_job, watch)
        return
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=placed_job.target.path))
    try:
        yield folder
    finally:
        with _ignore_signals():
            shutil.rmtree(folder)


def _empty(placed_job: PlacedJob, watch: PhaseWatch) -> None:
    """Writes zeros over what was written: the device is as empty as it was found."""
    began = time.monotonic()
    descriptor = os.open(placed_job.target.path, os.O_WRONLY)
    try:
        for place in range(0, placed_job.taken_bytes, _ZEROED_AT_ONCE):
            watch(PHASE_EMPTYING, time.monotonic() - began)
            ioctl(descriptor, _BLKZEROOUT, pack("QQ", place, min(_ZEROED_AT_ONCE, placed_job.taken_bytes - place)))
    finally:
        os.close(descriptor)


def _fio(fio: str, job: str, notes: Path, folder: Path, deadline: float, tick: Callable[[float], None]) -> str:
    """One run of fio in its own process group: writes the job file and returns fio's JSON."""
    written, result, messages = notes / "job.fio", notes / "result.json", notes / "said.txt"
    written.write_text(job, encoding="utf-8")
    words = [fio, "--output-format=json", f"--output={result}", str(written)]
    with messages.open("wb") as errors:
        # In a session of its own, Ctrl-C in a terminal reaches us alone, and we stop all of fio.
        process = subprocess.Popen(  # noqa: S603  # fio, and files that were written here
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
        )
        try:
            _wait(process, deadline, tick)
        finally:
            with _ignore_signals():
                _stop(process)
    if process.returncode:
        raise NotMeasured(f"fio failed: {_reason(messages)}. Nothing was recorded, and what was written is removed.")
    output = result.read_text(encoding="utf-8", errors="replace")
    try:
        whole = _NO_NUMBER.sub(r"\1null", output[output.index("{") : output.rindex("}") + 1])
        check_io(json.loads(whole))
    except ValueError as error:
        raise NotMeasured(f"fio printed no result: {_reason(messages)}. Its files were removed.") from error
    return output


def _wait(process: subprocess.Popen[bytes], deadline: float, tick: Callable[[float], None]) -> None:
    began = time.monotonic()
    while process.poll() is None:
        if time.monotonic() > deadline:
            raise NotMeasured(
                "the benchmark took longer than it may and was stopped: allow more with --max-minutes, or take less "
                "with --runtime-s, --file-mib or a shorter job."
            )
        tick(time.monotonic() - began)
        time.sleep(TICK_S)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the process group: by SIGINT first, then by SIGKILL."""
    for sign in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _reason(messages: Path) -> str:
    """The first line of fio's messages, without its name."""
    lines = [
        line.strip() for line in messages.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
    ]
    return lines[0].removeprefix("fio: ").rstrip(".") if lines else "it ended without a reason"


@contextmanager
def _ignore_signals() -> Iterator[None]:
    """Ignores Ctrl-C while things are put back. Only the main thread receives it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
