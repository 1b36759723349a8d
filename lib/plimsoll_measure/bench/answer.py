"""The document's answer: one line of JSON somewhere in a host's output."""

import json
import os
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import NotMeasured
from plimsoll.model.units import KIB_PER_MIB
from plimsoll_measure.bench.inspection import Inspection
from plimsoll_measure.verdict import BenchLoad

MARK: Final = '{"plimsoll":1,'
"""The beginning of the answer's line."""

API_CHARACTERS: Final = 24_000
"""Run Command returns this much of an output. The whole is only in S3 (GetCommandInvocation)."""

_SHOWN: Final = 200
_REMEDIES: Final = {
    "parameters": "This is a fault of Plimsoll's: please report it.",
    "rights": "Let the agent that runs commands on that host run as root.",
    "tools": "Install util-linux, coreutils and python3 (or perl) there, or choose another bench host.",
    "python": "Install python3 there: it is all that a probe needs.",
    "busy": "Try again when that measurement has ended.",
    "find-device": "See on the host with `lsblk -o NAME,SERIAL` whether the volume is attached to it.",
    "in-use": "Nothing was written; only an unused scratch volume is measured as a device.",
    "not-empty": "Nothing was written; only an empty scratch volume is measured as a device.",
    "storage": "Nothing was written; measure a scratch volume instead (`--mode canary` or `copy`).",
    "filesystem": "Mount the volume's filesystem for reading and writing, or measure a scratch volume instead.",
    "room": "Make room, choose a smaller file, or measure a scratch volume instead.",
    "install": "Install fio on the host, or let it reach its package repositories.",
    "job": "Correct the job.",
    "initialize": "Measure an empty scratch volume instead of a copy, or see on the host why it cannot be read.",
    "limit": "Allow more time for the task.",
    "fio": "See on the host why fio fails.",
    "stopped": "Start it again when what stopped it is over.",
    "inspect": "Install util-linux 2.27 or newer there.",
    "script": "See the command's error output, on the host or where the cloud keeps it.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchAnswer:
    """The answer of a task, measured or inspected.

    `fio` is fio's JSON text, None for an inspection and for a run that was stopped before it measured. `stopped` is the
    limit that stopped a run in a file ("queue" or "latency"). `simulated`: no volume stood behind it. `shortened`: the
    JSON lacks bulky parts. `filesystem_on` is the device that holds the measured filesystem: the volume's own, a
    partition, or a device of several volumes. `load` is the bench's other work, None if it did not report it.
    """

    mode: str
    volume_id: str = ""
    device: str | None = None
    filesystem: str | None = None
    filesystem_on: str | None = None
    simulated: bool = False
    stopped: str | None = None
    shortened: bool = False
    fio: str | None = None
    load: BenchLoad | None = None
    engine_version: str | None = None
    inspection: Inspection | None = None


class _Error(BaseModel):
    stage: str
    text: str


class _Failure(BaseModel):
    error: _Error


_Permille = Annotated[int, Field(ge=0)]


class _Bench(BaseModel):
    """A bench's report of its own load. Two clocks make a share, so it may be a little over 1,000 thousandths."""

    model_config = ConfigDict(strict=True, defer_build=True)

    cpus: Annotated[int, Field(ge=1)]
    waited_permille: _Permille | None
    queued_permille: _Permille
    stolen_permille: _Permille
    host_iops_exceeded_permille: _Permille | None
    host_throughput_exceeded_permille: _Permille | None
    other_iops: Annotated[int, Field(ge=0)]
    other_throughput_kib_s: Annotated[int, Field(ge=0)]
    engine: dict[str, Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]]

    def load(self) -> BenchLoad:
        """The load in the domain's units."""
        exceeded = {
            Resource.IOPS: self.host_iops_exceeded_permille,
            Resource.THROUGHPUT: self.host_throughput_exceeded_permille,
        }
        made = list(self.engine.values())
        return BenchLoad(
            cpus=self.cpus,
            waited=None if self.waited_permille is None else _share(self.waited_permille),
            queued=_share(self.queued_permille),
            stolen=_share(self.stolen_permille),
            other_iops=self.other_iops,
            other_throughput_mib_s=self.other_throughput_kib_s / KIB_PER_MIB,
            host_exceeded={side: _share(permille) for side, permille in exceeded.items() if permille is not None},
            engine_iops=max(iops for iops, _ in made) if made else None,
            engine_throughput_mib_s=max(kib_s for _, kib_s in made) / KIB_PER_MIB if made else None,
        )


def _share(permille: int) -> float:
    return min(1.0, permille / 1000)


class _Measured(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)

    mode: Literal["device", "file"]
    volume_id: str
    device: str | None
    filesystem: str | None
    filesystem_on: str | None = None
    simulated: bool
    stopped: str | None
    shortened: bool = False
    bench: _Bench | None = None
    fio: dict[str, Any] | None


def read_bench_answer(output: str) -> BenchAnswer:
    """The document's answer within an output. Raises NotMeasured, with the reason, if there is none."""
    answer = parse_report(output)
    try:
        if answer.get("mode") == "inspect":
            return BenchAnswer(mode="inspect", inspection=Inspection.model_validate(answer))
        measured = _Measured.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise NotMeasured(
            f"the bench host's answer cannot be used: {where}: {first['msg']}. Run it again with this version."
        ) from error
    if measured.fio is None and measured.stopped is None:
        raise NotMeasured("the bench host's answer holds no result of fio. See on the host why fio fails.")
    if measured.fio is not None and measured.stopped is None:
        check_io(measured.fio)
    version = measured.fio.get("fio version") if measured.fio else None
    return BenchAnswer(
        **measured.model_dump(exclude={"fio", "bench"}),
        load=measured.bench.load() if measured.bench is not None else None,
        fio=json.dumps(measured.fio) if measured.fio is not None else None,
        engine_version=version if isinstance(version, str) else None,
    )


class _Side(BaseModel):
    """Reads or writes of a job, by the counts that versions of fio have."""

    total_ios: int = 0
    io_bytes: int = 0
    iops: float | None = 0.0

    @property
    def is_done(self) -> bool:
        """At least one count shows I/O."""
        return bool(self.total_ios or self.io_bytes or self.iops)


class _Job(BaseModel):
    jobname: str = ""
    error: int = 0
    read: _Side = _Side()
    write: _Side = _Side()
    mixed: _Side = _Side()


class _Jobs(BaseModel):
    jobs: Annotated[list[_Job], Field(min_length=1)]


def check_io(fio: dict[str, Any]) -> None:
    """Raises NotMeasured if a job had no I/O or an error, even if fio ended with code 0."""
    try:
        jobs = _Jobs.model_validate(fio).jobs
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotMeasured(
            f"fio's result cannot be used: {where}: {first['msg']}. See on the host why fio fails."
        ) from error
    for job in jobs:
        if job.error:
            raise NotMeasured(
                f"fio's job {job.jobname} ended with error {job.error} ({os.strerror(job.error)}). See on the host why "
                "fio fails."
            )
        if not any(side.is_done for side in (job.read, job.write, job.mixed)):
            raise NotMeasured(
                f"fio's job {job.jobname} did no reads and no writes, so it measured nothing. See on the host why fio "
                "fails."
            )


def parse_report(output: str) -> dict[str, Any]:
    """The document's line of JSON within an output. Raises NotMeasured if there is none, or an error."""
    answer = _line(output)
    if "error" not in answer:
        return answer
    try:
        raise _failure(_Failure.model_validate(answer).error)
    except ValidationError as error:
        raise NotMeasured(
            f"the bench host's answer cannot be used: its error says {_tail(output)!r}. Run it again with this version."
        ) from error


def _line(output: str) -> dict[str, Any]:
    lines = output.rstrip().split("\n")
    places = [place for place, line in enumerate(lines) if line.startswith(MARK)]
    if not output.strip():
        raise NotMeasured(
            "the bench host printed nothing: its command ended before the document began. See the command's error "
            "output, on the host or where the cloud keeps it."
        )
    if not places:
        if len(output) >= API_CHARACTERS:
            raise _cut()
        raise NotMeasured(
            f"the bench host printed no result; its output ends with {_tail(output)!r}. See the command's error "
            "output, on the host or where the cloud keeps it."
        )
    line = lines[places[-1]]
    try:
        answer: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        if places[-1] == len(lines) - 1:
            raise _cut() from error
        raise NotMeasured(f"the bench host's answer is damaged near {_tail(line)!r}. Run it again.") from error
    return answer


def _cut() -> NotMeasured:
    return NotMeasured(
        f"the bench host's output ends in the middle: Run Command tells its first {API_CHARACTERS:,} characters. "
        "Set PLIMSOLL_RESULTS_BUCKET, so that the whole of it is kept in S3 and read from there."
    )


def _failure(error: _Error) -> NotMeasured:
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in error.text).split()).rstrip(".")
    remedy = _REMEDIES.get(error.stage, "See the command's error output, on the host or where the cloud keeps it.")
    return NotMeasured(f"the bench host could not measure ({error.stage}): {text}. {remedy}")


def _tail(text: str) -> str:
    return text.strip().rpartition("\n")[2][-_SHOWN:]
