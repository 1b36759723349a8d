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

from plimsoll.bench.answer import check_io
from plimsoll.bench.jobs import job_files, job_seconds
from plimsoll.bench.write_places import BenchTarget
from plimsoll.domain.errors import BadInput, NotMeasured
from plimsoll.domain.units import MIB

LEAST_FILE_BYTES: Final = 64 * MIB
"""Files smaller than this say more of caches than of a volume; twice the largest I/O of any job."""

FOLDER: Final = "plimsoll-benchmark-"
TICK_S: Final = 0.2
GRACE_S: Final = 5.0

_NO_NUMBER: Final = re.compile(r"(:\s*)-?(?:nan|inf)\b")
"""What C prints for no number, which is no JSON."""

_BLKZEROOUT: Final = 0x127F
_ZEROED_AT_ONCE: Final = 64 * MIB

Watch = Callable[[str, float], None]
"""Told every moment what is being done (preparing, measuring, emptying) and for how many seconds."""

PREPARING: Final = "preparing"
MEASURING: Final = "measuring"
EMPTYING: Final = "emptying"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A job that knows where to write, the job that fills that place first, and the bytes it takes up."""

    target: BenchTarget
    job: str
    preparation: str
    taken_bytes: int

    @property
    def seconds(self) -> int:
        """How long it is measured, ramps included; filling comes on top."""
        return job_seconds(self.job)


def fio_path() -> str:
    """The fio to run; NotMeasured, with how to install it, where there is none."""
    found = shutil.which("fio")
    if found is None:
        raise NotMeasured(
            "fio is not installed, and it is what measures: install it with apt-get install fio, dnf install fio, "
            "yum install fio, zypper install fio or brew install fio."
        )
    return found


def placed(job: str, target: BenchTarget, *, file_bytes: int | None = None) -> Placed:
    """A job on a target; its files are `file_bytes` each where given, and no more than a device holds.

    BadInput where that leaves files too small to mean anything.
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
    return Placed(
        target=target,
        job=sized.replace("[global]\n", "\n".join(["[global]", *where, ""]), 1),
        preparation="\n".join([*lines, *filling, f"numjobs={count}", "", "[filling]", ""]),
        taken_bytes=count * size,
    )


def run(one: Placed, *, limit_s: float, watch: Watch) -> str:
    """Fills the place, runs the job, removes all that was written, and gives fio's JSON.

    NotMeasured where fio fails, or all of it takes longer than `limit_s`. Whatever ends it, Ctrl-C included, fio is
    stopped and the place is as it was.
    """
    fio = fio_path()
    deadline = time.monotonic() + limit_s
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as notes, _place(one, watch) as folder:
        _fio(fio, one.preparation, Path(notes), folder, deadline, lambda spent_s: watch(PREPARING, spent_s))
        return _fio(fio, one.job, Path(notes), folder, deadline, lambda spent_s: watch(MEASURING, spent_s))


@contextmanager
def _place(one: Placed, watch: Watch) -> Iterator[Path]:
    """The folder that fio runs in, emptied afterwards, or the device."""
    if one.target.is_device:
        try:
            yield Path("/")
        finally:
            with _undisturbed():
                _empty(one, watch)
        return
    folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=one.target.path))
    try:
        yield folder
    finally:
        with _undisturbed():
            shutil.rmtree(folder)


def _empty(one: Placed, watch: Watch) -> None:
    """Writes zeros over what was written: the device is as empty as it was found."""
    began = time.monotonic()
    descriptor = os.open(one.target.path, os.O_WRONLY)
    try:
        for place in range(0, one.taken_bytes, _ZEROED_AT_ONCE):
            watch(EMPTYING, time.monotonic() - began)
            ioctl(descriptor, _BLKZEROOUT, pack("QQ", place, min(_ZEROED_AT_ONCE, one.taken_bytes - place)))
    finally:
        os.close(descriptor)


def _fio(fio: str, job: str, notes: Path, folder: Path, deadline: float, tick: Callable[[float], None]) -> str:
    """One run of fio in a process group of its own, from its own job file to the JSON that it leaves."""
    written, told, said = notes / "job.fio", notes / "result.json", notes / "said.txt"
    written.write_text(job, encoding="utf-8")
    words = [fio, "--output-format=json", f"--output={told}", str(written)]
    with said.open("wb") as errors:
        # In a session of its own, Ctrl-C in a terminal reaches us alone, and we stop all of fio.
        process = subprocess.Popen(  # noqa: S603  # fio, and files that were written here
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
        )
        try:
            _wait(process, deadline, tick)
        finally:
            with _undisturbed():
                _stop(process)
    if process.returncode:
        raise NotMeasured(f"fio failed: {_reason(said)}. Nothing was recorded, and what was written is removed.")
    output = told.read_text(encoding="utf-8", errors="replace")
    try:
        whole = _NO_NUMBER.sub(r"\1null", output[output.index("{") : output.rindex("}") + 1])
        check_io(json.loads(whole))
    except ValueError as error:
        raise NotMeasured(f"fio printed no result: {_reason(said)}. What was written is removed.") from error
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
    """Ends whatever is left of the process group: asked first, then made to."""
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


def _reason(said: Path) -> str:
    """What fio said last, without its own name; its exit is all there is where it said nothing."""
    lines = [line.strip() for line in said.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[0].removeprefix("fio: ").rstrip(".") if lines else "it ended without a reason"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Lets no second Ctrl-C in while things are put back; only the main thread is ever sent one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
