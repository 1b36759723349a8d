"""The recorder: ports that write what passes through them into a recording."""

import json
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from plimsoll.clouds.recording import (
    ERROR,
    FORMAT,
    FOUND,
    FOUND_AGAIN,
    REMARKS,
    book_adapter,
    error_out,
    found_member,
    listed_out,
    member,
    pack,
)
from plimsoll.files import make_file, make_folder
from plimsoll.model.errors import CloudError
from plimsoll.model.market import PriceBook
from plimsoll.model.volume import Volume
from plimsoll.ports import CallLimits, FailedTarget, Inventory, Metrics, Prices, Target, UnreadVolume, Usage
from plimsoll.reading.known import Ask, Found


@dataclass(slots=True)
class Recorder:
    """Writes what passes through its ports into a recording; use as a context manager.

    `retention_days` has every cloud that is recorded: how many days its data of each period, in seconds, lives;
    `memory_days` for how many days what was before the window is recorded, `visible_after_s` how late it comes where it
    does.
    """

    path: Path
    now: datetime
    version: str
    retention_days: Mapping[str, Mapping[int, float]]
    memory_days: Mapping[str, float] = field(default_factory=dict)
    visible_after_s: Mapping[str, int] = field(default_factory=dict)
    _zip: zipfile.ZipFile = field(init=False, repr=False)
    _targets: list[dict[str, Any]] = field(init=False, repr=False, default_factory=list)
    _one_at_a_time: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __enter__(self) -> "Recorder":
        make_folder(self.path.parent)
        make_file(self.path)
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        return self

    def __exit__(self, *_raised: object) -> None:
        about = {
            "format": FORMAT,
            "now": self.now.isoformat(),
            "version": self.version,
            "retention_days": {
                provider: {str(period): days for period, days in kept.items()}
                for provider, kept in self.retention_days.items()
            },
            "memory_days": dict(self.memory_days),
            "visible_after_s": dict(self.visible_after_s),
            "targets": self._targets,
        }
        self.put("about.json", json.dumps(about, indent=1).encode())
        self._zip.close()

    def put(self, name: str, content: bytes) -> None:
        """Adds a member with a fixed date, so that equal answers make equal members, in the order they came in."""
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._one_at_a_time:
            self._zip.writestr(info, content)

    def has(self, name: str) -> bool:
        """The recording has a member of that name."""
        return name in self._zip.NameToInfo

    @contextmanager
    def errors_as(self, name: str) -> Iterator[None]:
        """Keeps an error of the block in the place of its answer, and lets it go on."""
        try:
            yield
        except CloudError as error:
            self.put(name, json.dumps({"error": error_out(error)}).encode())
            raise

    def target(self, found: Target | FailedTarget, provider: str) -> None:
        """Notes a target of a cloud in the order it was given."""
        if isinstance(found, Target):
            told: dict[str, Any] = {"account": found.account, "region": found.region}
        else:
            told = {"name": found.name, "error": error_out(found.error)}
        self._targets.append({**told, "provider": provider})


@dataclass(slots=True, kw_only=True)
class RecordedPorts:
    """A cloud's inventory, metrics and prices, which are recorded as they are read. What the metrics say of themselves
    is as they have it."""

    inventory: Inventory
    metrics: Metrics
    prices: Prices
    recorder: Recorder
    provider: str
    usage: Usage = field(init=False)
    retention_days: Mapping[int, float] = field(init=False)
    memory_days: float = field(init=False)
    visible_after_s: int = field(init=False)
    call_limits: CallLimits = field(init=False)

    def __post_init__(self) -> None:
        self.usage, self.call_limits = self.metrics.usage, self.metrics.call_limits
        self.memory_days = self.metrics.memory_days
        self.retention_days, self.visible_after_s = self.metrics.retention_days, self.metrics.visible_after_s

    def targets(self) -> Sequence[Target | FailedTarget]:
        """The inventory's targets, which are recorded."""
        found = self.inventory.targets()
        for target in found:
            self.recorder.target(target, self.provider)
        return found

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The target's volumes, recorded up to an error if there is one."""
        lines: list[bytes] = []
        try:
            for volume in self.inventory.volumes(target):
                lines.append(listed_out(volume))
                yield volume
        except CloudError as error:
            lines.append(json.dumps({"error": error_out(error)}).encode())
            raise
        finally:
            self.recorder.put(member(target, "volumes.jsonl"), b"\n".join(lines))

    def notices(self, target: Target) -> Sequence[str]:
        """The target's notices, recorded."""
        name = member(target, "notices.json")
        with self.recorder.errors_as(name):
            texts = list(self.inventory.notices(target))
        self.recorder.put(name, json.dumps(texts).encode())
        return texts

    def book(self, target: Target) -> PriceBook | None:
        """The target's book, recorded."""
        name = member(target, "prices.json")
        with self.recorder.errors_as(name):
            book = self.prices.book(target)
        self.recorder.put(name, b"null" if book is None else book_adapter().dump_json(book))
        return book

    def series(self, volume: Volume) -> int:
        return self.metrics.series(volume)

    def host_series(self, volume: Volume) -> int:
        return self.metrics.host_series(volume)

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """Records the series of each look, one by one."""
        try:
            answers = self.metrics.read(asks)
        except CloudError as error:
            for ask in asks:
                self._put(ask, error)
            raise
        for ask, found in zip(asks, answers, strict=True):
            self._put(ask, found)
        return answers

    def remarks(self, target: Target) -> Sequence[str]:
        """The target's remarks, recorded."""
        texts = list(self.metrics.remarks(target))
        self.recorder.put(member(target, REMARKS), json.dumps(texts).encode())
        return texts

    def _put(self, ask: Ask, found: Found | CloudError) -> None:
        """Records what a look found, or what it found when it was asked once more."""
        again = self.recorder.has(found_member(ask, FOUND))
        if isinstance(found, CloudError):
            self.recorder.put(found_member(ask, ERROR), json.dumps(error_out(found)).encode())
        else:
            self.recorder.put(found_member(ask, FOUND_AGAIN if again else FOUND), pack(found))
