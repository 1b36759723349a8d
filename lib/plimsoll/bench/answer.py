"""The document's answer: one line of JSON somewhere in what a host printed."""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.bench.inspection import Inspection
from plimsoll.domain.errors import NotMeasured

MARK: Final = '{"plimsoll":1,'
"""How the line begins."""

API_CHARACTERS: Final = 24_000
"""Run Command tells so much of what was printed; the rest is only in S3 (GetCommandInvocation)."""

_SHOWN: Final = 200
_REMEDIES: Final = {
    "parameters": "This is a fault of Plimsoll's: please report it.",
    "rights": "Let the agent that runs commands on that host run as root.",
    "tools": "Install util-linux and coreutils there, or choose another bench host.",
    "busy": "Try again when that measurement has ended.",
    "find-device": "See on the host with `lsblk -o NAME,SERIAL` whether the volume is attached to it.",
    "in-use": "Nothing was written; only an unused scratch volume is measured as a device.",
    "not-empty": "Nothing was written; only an empty scratch volume is measured as a device.",
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
    """What a task measured or found. `fio` is fio's JSON text, None for an inspection and where a run was stopped
    before it measured anything; `stopped` says what stopped a run in a file ("queue" or "latency"). `simulated`: no
    volume stood behind it. `shortened`: fio's JSON lacks what is bulky. `filesystem_on` is the device that holds the
    measured filesystem: the volume's own, a partition, or what is built of several volumes."""

    mode: str
    volume_id: str = ""
    device: str | None = None
    filesystem: str | None = None
    filesystem_on: str | None = None
    simulated: bool = False
    stopped: str | None = None
    shortened: bool = False
    fio: str | None = None
    engine_version: str | None = None
    inspection: Inspection | None = None


class _Error(BaseModel):
    stage: str
    text: str


class _Failure(BaseModel):
    error: _Error


class _Measured(BaseModel):
    model_config = ConfigDict(strict=True)

    mode: Literal["device", "file"]
    volume_id: str
    device: str | None
    filesystem: str | None
    filesystem_on: str | None = None
    simulated: bool
    stopped: str | None
    shortened: bool = False
    fio: dict[str, Any] | None


def read_answer(output: str) -> BenchAnswer:
    """What the document printed, whatever stands around it; NotMeasured says why there is nothing to read."""
    told = _told(output)
    try:
        if "error" in told:
            raise _failure(_Failure.model_validate(told).error)
        if told.get("mode") == "inspect":
            return BenchAnswer(mode="inspect", inspection=Inspection.model_validate(told))
        measured = _Measured.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise NotMeasured(
            f"the bench host's answer cannot be used: {where}: {first['msg']}. Run it again with this version."
        ) from error
    if measured.fio is None and measured.stopped is None:
        raise NotMeasured("the bench host's answer holds no result of fio. See on the host why fio fails.")
    version = measured.fio.get("fio version") if measured.fio else None
    return BenchAnswer(
        **measured.model_dump(exclude={"fio"}),
        fio=json.dumps(measured.fio) if measured.fio is not None else None,
        engine_version=version if isinstance(version, str) else None,
    )


def _told(output: str) -> dict[str, Any]:
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
        told: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        if places[-1] == len(lines) - 1:
            raise _cut() from error
        raise NotMeasured(f"the bench host's answer is damaged near {_tail(line)!r}. Run it again.") from error
    return told


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
