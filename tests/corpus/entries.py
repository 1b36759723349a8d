"""The corpus: its entries, and what becomes of each file when it is imported."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from plimsoll.clouds.published import types_by_cloud
from plimsoll.envelopes.campaigns import load_campaign
from plimsoll.envelopes.fit import fit_envelope
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Admission, Envelope, Measurement
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.adding import NewCampaign, add_campaign, to_new_result
from plimsoll_measure.cli.measured_volumes import host_from
from plimsoll_measure.readers.reading import decode_text, read_output
from plimsoll_measure.readers.results import BenchResult

HERE: Final = Path(__file__).parent
FILES: Final = HERE / "files"
DEFAULT: Final = {"type": "gp3", "size_gib": 500, "iops": 16_000, "throughput_mib_s": 1_000}
ROUNDED: Final = 0.006
"""fio rounds what it prints to three digits."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One file: what must be found in it, what it must count for, and the options of its import."""

    file: str
    source: str
    results: Sequence[Sequence[Any]] = ()
    rules: Sequence[str] = ()
    verdict: str | None = None
    refused: str | None = None
    trap: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    last_only: bool = False
    seed: bool = False

    @property
    def path(self) -> Path:
        return (FILES / self.file).resolve()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a file: the results that were read, what each counts for, or why it was refused."""

    entry: Entry
    results: Sequence[BenchResult] = ()
    measurements: Sequence[Measurement] = ()
    envelope: Envelope | None = None
    refusal: str | None = None

    @property
    def verdict(self) -> str:
        """The gravest verdict on any result; refused where there is none."""
        if self.refusal is not None:
            return "refused"
        found = [one.admission(side) for one in self.measurements for side in Resource]
        return max(found, key=lambda one: one.gravity, default=Admission.REJECTED).value

    @property
    def rules(self) -> set[str]:
        return {ruling.rule for one in self.measurements for ruling in one.rulings}

    def wrong(self) -> Iterator[str]:
        """What is not as it must be."""
        entry = self.entry
        if (entry.refused is not None) != (self.refusal is not None):
            yield f"refused: {self.refusal}" if self.refusal else "imported, though it holds no result"
            return
        if entry.refused is not None and entry.refused not in (self.refusal or ""):
            yield f"refused for another reason: {self.refusal}"
        yield from self.wrong_values()
        if not set(entry.rules) <= self.rules:
            yield f"not seen: {', '.join(sorted(set(entry.rules) - self.rules))}"
        if entry.verdict is not None and self.verdict != entry.verdict:
            yield f"{self.verdict} instead of {entry.verdict}"

    def wrong_values(self) -> Iterator[str]:
        """Figures that are not those of the file."""
        expected = list(_expected(self.entry)) if self.refusal is None else []
        found = [(one.job.mode, one.job.block_kib, one.iops, one.throughput_mib_s) for one in self.results]
        if expected and len(expected) != len(found):
            yield f"{len(found)} results instead of {len(expected)}"
        for (mode, kib, iops, mib_s), told in zip(expected, found, strict=False):
            same = all(abs((a or 0) - b) <= ROUNDED * b for a, b in zip(told[2:], (iops, mib_s), strict=True))
            if (mode is not None and mode != told[0]) or (kib is not None and kib != told[1]) or not same:
                yield f"{told} instead of {(mode, kib, iops, mib_s)}"


def entries() -> list[Entry]:
    """Every entry of the manifest."""
    return [Entry(**one) for one in yaml.safe_load((HERE / "manifest.yaml").read_text(encoding="utf-8"))]


IMPORTED_ON: Final = date(2026, 11, 26)


def outcome(entry: Entry) -> Outcome:
    """What becomes of an entry's file when it is imported."""
    return imported(entry, decode_text(entry.path.read_bytes()), imported_on=IMPORTED_ON)


def imported(entry: Entry, text: str, **place: Any) -> Outcome:
    """What becomes of an output that is imported with the options of an entry."""
    options = {**DEFAULT, **entry.options}
    host = options.pop("host_type", None)
    types = types_by_cloud()["aws"]
    try:
        found = read_output(text, name=entry.path.name)
        new = NewCampaign(
            name="mine",
            title="a file of the corpus",
            source=entry.path.name,
            measured_on=None,
            provider="aws",
            spec=VolumeSpec(**{name: value for name, value in options.items() if value is not None}),
            tool=found.results[0].tool if found.results else "fio",
            host=host_from("aws", host) if host else None,
            results=tuple(to_new_result(one) for one in found.results),
            **place,
        )
        with TemporaryDirectory() as folder:
            (system,) = load_campaign(add_campaign(Path(folder), new, types)).systems
    except BadInput as refused:
        return Outcome(entry=entry, refusal=str(refused))
    envelope = fit_envelope(system, types)
    return Outcome(entry=entry, results=found.results, measurements=envelope.measurements, envelope=envelope)


def _expected(entry: Entry) -> Iterator[Sequence[Any]]:
    """The results of a file: those of the manifest, or as JSON and the fields of terse lines have them."""
    if entry.results:
        yield from entry.results
    elif entry.path.suffix == ".json":
        jobs = [job for output in _json(entry) for job in (output.get("jobs") or output["client_stats"])]
        for job in jobs:
            if job["jobname"] == "All clients":
                continue
            sides = [job[name] for name in ("read", "write", "mixed") if name in job]
            yield (None, None, sum(one["iops"] for one in sides), sum(one["bw_bytes"] for one in sides) / 2**20)
    elif entry.file.startswith("terse"):
        for line in entry.path.read_text(encoding="utf-8").splitlines():
            if line[:2] in {"2;", "3;", "4;", "5;"}:
                fields = line.split(";")[2 if line[0] == "2" else 3 :]
                each = 47 if line[0] == "5" else 41
                read, write = fields[2:], fields[2 + each :]
                yield (
                    None,
                    None,
                    *(float(read[at]) + float(write[at]) for at in (2,)),
                    sum(float(side[1]) for side in (read, write)) / 1024,
                )


def _json(entry: Entry) -> Sequence[Any]:
    text, decoder, at, found = entry.path.read_text(encoding="utf-8"), json.JSONDecoder(), 0, []
    while (at := text.find("{", at)) >= 0:
        document, at = decoder.raw_decode(text, at)
        found.append(document)
    return found[-1:] if entry.last_only else found
