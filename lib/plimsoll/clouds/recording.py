"""Recordings: what the clouds answered, in one file, so that an audit can be decided again without a cloud.

A recording is a zip: `about.json` (when, by which version, the targets), one JSON lines file of volumes, a price book
and the notices per target, and for each volume and window its sums as raw little-endian doubles. Errors are kept as
errors, so that a replayed audit fails where the recorded one did.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

import plimsoll.domain.errors as errors_module
from plimsoll.domain.errors import BadInput, CloudError, Unexpected
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.sums import Sums, Window, series
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, Inventory, Metrics, Prices, Reading, Target, Usage

FORMAT = 1

_VOLUME = TypeAdapter(Volume)
_BOOK = TypeAdapter(PriceBook)
_SUMS_FIELDS = ("start_s", "period_s")


@dataclass(slots=True)
class Recorder:
    """Writes what passes through its ports into a recording; use as a context manager."""

    path: Path
    now: datetime
    version: str
    retention_days: Mapping[int, float]
    _zip: zipfile.ZipFile = field(init=False, repr=False)
    _targets: list[dict[str, Any]] = field(init=False, repr=False, default_factory=list)

    def __enter__(self) -> "Recorder":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        return self

    def __exit__(self, *_raised: object) -> None:
        about = {
            "format": FORMAT,
            "now": self.now.isoformat(),
            "version": self.version,
            "retention_days": {str(period): days for period, days in self.retention_days.items()},
            "targets": self._targets,
        }
        self.put("about.json", json.dumps(about, indent=1).encode())
        self._zip.close()

    def put(self, name: str, content: bytes) -> None:
        """Adds a member with a fixed date, so that equal answers make equal files."""
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content)

    def target(self, found: Target | FailedTarget) -> None:
        """Notes a target in the order it was given."""
        if isinstance(found, Target):
            self._targets.append({"account": found.account, "region": found.region})
        else:
            self._targets.append({"name": found.name, "error": _error_out(found.error)})


@dataclass(slots=True, kw_only=True)
class RecordingInventory:
    """An inventory that is recorded as it is read."""

    inventory: Inventory
    recorder: Recorder

    def targets(self) -> Sequence[Target | FailedTarget]:
        """As the inventory has them."""
        found = self.inventory.targets()
        for target in found:
            self.recorder.target(target)
        return found

    def volumes(self, target: Target) -> Iterator[Volume]:
        """The target's volumes, recorded up to an error if there is one."""
        lines: list[bytes] = []
        try:
            for volume in self.inventory.volumes(target):
                lines.append(_VOLUME.dump_json(volume))
                yield volume
        except CloudError as error:
            lines.append(json.dumps({"error": _error_out(error)}).encode())
            raise
        finally:
            self.recorder.put(_member(target, "volumes.jsonl"), b"\n".join(lines))

    def notices(self, target: Target) -> Sequence[str]:
        """The target's notices, recorded."""
        texts = list(self.inventory.notices(target))
        self.recorder.put(_member(target, "notices.json"), json.dumps(texts).encode())
        return texts


@dataclass(slots=True, kw_only=True)
class RecordingPrices:
    """Prices that are recorded as they are read."""

    prices: Prices
    recorder: Recorder

    def book(self, target: Target) -> PriceBook | None:
        """The target's book, recorded."""
        book = self.prices.book(target)
        self.recorder.put(_member(target, "prices.json"), b"null" if book is None else _BOOK.dump_json(book))
        return book


@dataclass(slots=True, kw_only=True)
class RecordingMetrics:
    """Metrics that are recorded as they are read."""

    metrics: Metrics
    recorder: Recorder

    @property
    def usage(self) -> Usage:
        """What has been asked so far."""
        return self.metrics.usage

    @property
    def retention_days(self) -> Mapping[int, float]:
        """As the metrics have it."""
        return self.metrics.retention_days

    def read(self, volumes: Sequence[Volume], window: Window, period_s: int) -> Reading:
        """The reading, recorded volume by volume."""
        try:
            reading = self.metrics.read(volumes, window, period_s)
        except CloudError as error:
            for volume in volumes:
                self._put(volume, window, period_s, json.dumps(_error_out(error)).encode(), "error.json")
            raise
        for volume in volumes:
            if volume.id in reading.failed:
                failed = json.dumps(_error_out(reading.failed[volume.id])).encode()
                self._put(volume, window, period_s, failed, "error.json")
            else:
                self._put(volume, window, period_s, _pack(reading.sums[volume.id]), "npz")
        return reading

    def _put(self, volume: Volume, window: Window, period_s: int, content: bytes, ending: str) -> None:
        self.recorder.put(_sums_member(volume, window, period_s, ending), content)


@dataclass(slots=True)
class Recording:
    """A recording opened for reading: it fulfils the inventory, metrics and prices ports itself."""

    path: Path
    now: datetime
    version: str
    retention_days: Mapping[int, float]
    usage: Usage = field(default_factory=Usage)
    _zip: zipfile.ZipFile = field(repr=False, kw_only=True)
    _targets: Sequence[Mapping[str, Any]] = field(repr=False, kw_only=True)

    @classmethod
    def open(cls, path: Path) -> "Recording":
        """The recording in that file; BadInput where it is none."""
        try:
            opened = zipfile.ZipFile(path)
            about = json.loads(opened.read("about.json"))
            if about["format"] != FORMAT:
                raise BadInput(f"{path} is a recording of format {about['format']}; this version reads {FORMAT}.")
            return cls(
                path,
                datetime.fromisoformat(about["now"]),
                about["version"],
                {int(period): days for period, days in about["retention_days"].items()},
                _zip=opened,
                _targets=about["targets"],
            )
        except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
            raise BadInput(
                f"{path} is not a recording ({error}): give a file that `plimsoll audit --record FILE` has written."
            ) from error

    def targets(self) -> Sequence[Target | FailedTarget]:
        """The recorded targets, in their order."""
        return [
            FailedTarget(name=found["name"], error=_error_in(found["error"]))
            if "error" in found
            else Target(account=found["account"], region=found["region"])
            for found in self._targets
        ]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """The recorded volumes of a target, then the recorded error if there was one."""
        for line in self._read(_member(target, "volumes.jsonl")).splitlines():
            if line.startswith(b'{"error"'):
                raise _error_in(json.loads(line)["error"])
            yield _VOLUME.validate_json(line)

    def notices(self, target: Target) -> Sequence[str]:
        """The recorded notices of a target."""
        name = _member(target, "notices.json")
        return list(json.loads(self._read(name))) if name in self._zip.namelist() else ()

    def book(self, target: Target) -> PriceBook | None:
        """The recorded price book of a target."""
        content = self._read(_member(target, "prices.json"))
        return None if content == b"null" else _BOOK.validate_json(content)

    def read(self, volumes: Sequence[Volume], window: Window, period_s: int) -> Reading:
        """The recorded sums of some volumes."""
        sums: dict[str, Sums] = {}
        failed: dict[str, CloudError] = {}
        for volume in volumes:
            try:
                sums[volume.id] = _unpack(self._zip.read(_sums_member(volume, window, period_s, "npz")))
            except KeyError:
                failed[volume.id] = self._recorded_error(volume, window, period_s)
        return Reading(sums=sums, failed=failed)

    def _recorded_error(self, volume: Volume, window: Window, period_s: int) -> CloudError:
        try:
            return _error_in(json.loads(self._zip.read(_sums_member(volume, window, period_s, "error.json"))))
        except KeyError:
            return Unexpected(
                f"the recording {self.path} holds no metrics of {volume.id} for this window and period: "
                "decide with the lookback_days and resolution_s it was recorded with."
            )

    def _read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except KeyError as error:
            raise Unexpected(f"the recording {self.path} lacks {name}: it was interrupted; record it again.") from error


def _member(target: Target, name: str) -> str:
    return f"{target.account}/{target.region}/{name}"


def _sums_member(volume: Volume, window: Window, period_s: int, ending: str) -> str:
    place = f"{volume.account}/{volume.region}/sums/{volume.id}"
    return f"{place}.{window.start_s}-{window.end_s}-{period_s}.{ending}"


def _pack(sums: Sums) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, start_s=sums.start_s, period_s=sums.period_s, **dict(series(sums)))  # type: ignore[arg-type]  # its allow_pickle keyword
    return packed.getvalue()


def _unpack(content: bytes) -> Sums:
    with np.load(io.BytesIO(content), allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files if name not in _SUMS_FIELDS}
        return Sums(start_s=int(packed["start_s"]), period_s=int(packed["period_s"]), **arrays)


def _error_out(error: CloudError) -> dict[str, str]:
    return {"kind": type(error).__name__, "message": str(error)}


def _error_in(written: Mapping[str, str]) -> CloudError:
    kind = getattr(errors_module, written["kind"], Unexpected)
    return kind(written["message"]) if issubclass(kind, CloudError) else Unexpected(written["message"])
