"""A recording: what the clouds answered, in one file, so that an audit can be decided again without a cloud.

A recording is a zip. `about.json` says when it was made, by which version, of which targets, how long each cloud keeps
its metrics and how late they come. Each target has its volumes (JSON lines), a price book, notices and remarks. Each
volume and window has every series as numpy arrays, as finely as the cloud has it. Errors are kept as errors, so that a
replayed audit fails where the recorded one did.
"""

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter

from plimsoll.clouds.recorded_values import (
    DAMAGE,
    check_about,
    check_volume,
    checked_book,
    checked_series,
    read_arrays,
    read_member,
)
from plimsoll.clouds.registry import AWS
from plimsoll.files import open_file
from plimsoll.model import errors
from plimsoll.model.errors import BadInput, CloudError, Unexpected
from plimsoll.model.market import PriceBook
from plimsoll.model.series import HOST, PAST_RATES, SIGNALS, STEP
from plimsoll.model.volume import Volume
from plimsoll.ports import CallLimits, FailedTarget, Target, UnreadVolume, Usage
from plimsoll.reading.known import Ask, Found, Look
from plimsoll.reading.window import Window

FORMAT: Final = 3
READ_FORMATS: Final = (2, FORMAT)
"""Format 2 knew one cloud alone, and did not name it."""

MOST_MEMBER_BYTES: Final = 256 * 2**20
"""The most that a member with volumes, prices or texts may unpack to: some 400,000 volumes of a target."""

MOST_SERIES: Final = 64
"""More series than any cloud has of a volume."""

_APART: Final = ((SIGNALS,), (PAST_RATES,))
"""Groups that are also read alone, by the days of a window of which other groups are read by the day."""

REMARKS: Final = "remarks.json"
"""The member of a target with what is to be known of what was read."""


@cache
def volume_adapter() -> TypeAdapter[Volume]:
    """The reader and writer of volumes."""
    return TypeAdapter(Volume)


@cache
def book_adapter() -> TypeAdapter[PriceBook]:
    """The adapter that reads and writes price books."""
    return TypeAdapter(PriceBook)


def member(target: Target, name: str) -> str:
    """The name of a target's member."""
    return f"{target.account}/{target.region}/{name}"


def found_member(ask: Ask, ending: str) -> str:
    """The name of the member with what a look found, or the error in its place."""
    return _plain_member(ask, f"{ask.look.groups[0]}.{ending}" if ask.look.groups in _APART else ending)


def _plain_member(ask: Ask, ending: str) -> str:
    """The same without the group, as recordings before 2026-11-24 name what was read of signals."""
    volume, window = ask.volume, ask.look.window
    place = f"{volume.account}/{volume.region}/sums/{volume.id}"
    return f"{place}.{window.start_s}-{window.end_s}-{ask.look.period_s}.{ending}"


def pack(found: Found) -> bytes:
    """The arrays of a look as bytes."""
    packed = io.BytesIO()
    np.savez(packed, **dict(found))  # type: ignore[arg-type]  # its allow_pickle keyword
    return packed.getvalue()


def error_out(error: CloudError) -> dict[str, str]:
    """An error as plain values."""
    return {"kind": type(error).__name__, "message": str(error)}


def error_in(written: Mapping[str, str]) -> CloudError:
    """The error in plain values."""
    kind = getattr(errors, written["kind"], Unexpected)
    return kind(written["message"]) if issubclass(kind, CloudError) else Unexpected(written["message"])


_UNREAD: Final = b'{"unread"'


def listed_out(one: Volume | UnreadVolume) -> bytes:
    """A volume, or one that could not be read with its error, as a line."""
    if isinstance(one, Volume):
        return volume_adapter().dump_json(one)
    return json.dumps({"unread": one.id, "error": error_out(one.error), "what": one.what}).encode()


def listed_in(line: bytes) -> Volume | UnreadVolume:
    """The volume in a line, or the one that could not be read."""
    if not line.startswith(_UNREAD):
        return volume_adapter().validate_json(line)
    written = json.loads(line)
    what = written.get("what", "a volume")
    return UnreadVolume(id=written["unread"], error=error_in(written["error"]), what=what)


ERROR: Final = "error.json"
FOUND: Final = "npz"
FOUND_AGAIN: Final = "again.npz"
"""How the members end that hold what a look found, and what it found when it was asked once more."""

_FOUND_NAME: Final = re.compile(
    r"(?P<place>[^/]+/[^/]+/)sums/(?P<id>.+)\.(?P<start>\d+)-(?P<end>\d+)-(?P<period>\d+)\.npz"
)

NO_LIMITS: Final = CallLimits(queries=sys.maxsize, datapoints=sys.maxsize)
"""Nothing is called."""


@dataclass(slots=True)
class Recording:
    """The recording of one cloud: it fulfills the inventory, metrics and prices ports itself."""

    path: Path
    now: datetime
    version: str
    provider: str
    retention_days: Mapping[int, float]
    memory_days: float = 0.0
    visible_after_s: int = 0
    usage: Usage = field(default_factory=Usage)
    call_limits: CallLimits = NO_LIMITS
    _zip: zipfile.ZipFile = field(repr=False, kw_only=True)
    _targets: Sequence[Target | FailedTarget] = field(repr=False, kw_only=True)

    def targets(self) -> Sequence[Target | FailedTarget]:
        """The recorded targets, in their order."""
        return self._targets

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The recorded volumes of a target, then the recorded error if there was one."""
        name = member(target, "volumes.jsonl")
        for line in self._read(name).splitlines():
            _raise_recorded(line)
            with self._parsing(name):
                volume = listed_in(line)
                check_volume(volume, target)
            yield volume

    def notices(self, target: Target) -> Sequence[str]:
        """The recorded notices of a target."""
        return self._texts(member(target, "notices.json"))

    def book(self, target: Target) -> PriceBook | None:
        """The recorded price book of a target."""
        name = member(target, "prices.json")
        content = self._read(name)
        _raise_recorded(content)
        with self._parsing(name):
            return None if content == b"null" else checked_book(book_adapter().validate_json(content))

    def series(self, _volume: Volume) -> int:
        """None that would have to be asked for."""
        return 0

    def host_series(self, _volume: Volume) -> int:
        """None that would have to be asked for."""
        return 0

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The recorded series of each look."""
        return [self._found(ask) for ask in asks]

    def looks(self) -> Mapping[str, Sequence[Look]]:
        """When and how finely it has metrics of each volume, by account, region and id with a slash between them."""
        found: dict[str, list[Look]] = {}
        for name in self._zip.NameToInfo:
            if (parts := _FOUND_NAME.fullmatch(name)) is not None:
                window = Window(start_s=int(parts["start"]), end_s=int(parts["end"]))
                found.setdefault(parts["place"] + parts["id"], []).append(
                    Look(window=window, period_s=int(parts["period"]))
                )
        return found

    def remarks(self, target: Target) -> Sequence[str]:
        """The recorded remarks of a target."""
        return self._texts(member(target, REMARKS))

    def _found(self, ask: Ask) -> Found | CloudError:
        try:
            found = self._arrays(ask, FOUND)
            if found is None and (PAST_RATES in ask.look.groups or {*HOST, STEP} >= {*ask.look.groups}):
                return {}  # Those of earlier versions have nothing of hosts, past days or steps, which is unknown.
            return self._recorded_error(ask) if found is None else self._both(found, ask)
        except DAMAGE as error:
            return self._damaged(ask.volume.id, error)

    def _arrays(self, ask: Ask, ending: str) -> Found | None:
        """The series of a look, of the first time or of when it was asked once more; None where nothing is recorded."""
        buckets = ask.look.window.buckets(ask.look.period_s)
        members, name = self._zip.NameToInfo, found_member(ask, ending)
        if name not in members and found_member(ask, ERROR) not in members:
            name = _plain_member(ask, ending)
        if name not in members:
            return None
        most_bytes = MOST_SERIES * (8 * buckets + 2048)
        return checked_series(read_arrays(read_member(self._zip, name, most_bytes), buckets, MOST_SERIES))

    def _both(self, found: Found, ask: Ask) -> Found:
        """The series of a look, with points of its second reading in the place of the first."""
        again = self._arrays(ask, FOUND_AGAIN)
        if again is None:
            return found
        return {
            name: np.where(np.isnan(again[name]), values, again[name]) if name in again else values
            for name, values in found.items()
        }

    def _recorded_error(self, ask: Ask) -> CloudError:
        name = found_member(ask, ERROR)
        if name in self._zip.NameToInfo:
            return error_in(json.loads(read_member(self._zip, name, MOST_MEMBER_BYTES)))
        return Unexpected(
            f"the recording {self.path} holds no metrics of {ask.volume.id} for this window and period: "
            "decide with the lookback_days, resolution_s and memory_days it was recorded with."
        )

    def _texts(self, name: str) -> Sequence[str]:
        """The sentences of a member; none where there is no such member."""
        if name not in self._zip.namelist():
            return ()
        content = self._read(name)
        _raise_recorded(content)
        with self._parsing(name):
            return list(map(str, json.loads(content)))

    def _read(self, name: str) -> bytes:
        if name not in self._zip.NameToInfo:
            raise Unexpected(f"the recording {self.path} lacks {name}: it was interrupted; record it again.")
        with self._parsing(name):
            return read_member(self._zip, name, MOST_MEMBER_BYTES)

    @contextmanager
    def _parsing(self, name: str) -> Iterator[None]:
        """Unexpected where what is read of a member within is damaged."""
        try:
            yield
        except DAMAGE as error:
            raise self._damaged(name, error) from error

    def _damaged(self, name: str, error: Exception) -> Unexpected:
        return Unexpected(f"the recording {self.path} is damaged at {name} ({error}): take another copy of it.")


def is_recording(path: Path) -> bool:
    """The file is a recording, whatever its name."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as opened:
            return "about.json" in opened.NameToInfo
    except DAMAGE:
        return False


def open_recording(path: Path) -> tuple[Recording, ...]:
    """The recordings in a file, one for each cloud in their order; BadInput if it is no recording."""
    try:
        with open_file(path):
            opened = zipfile.ZipFile(path)
        about = json.loads(read_member(opened, "about.json", MOST_MEMBER_BYTES))
        if about["format"] not in READ_FORMATS:
            raise BadInput(f"{path} is a recording of format {about['format']!r:.40}; this version reads {FORMAT}.")
        check_about(about)
        return tuple(
            Recording(
                path,
                datetime.fromisoformat(about["now"]),
                about["version"],
                provider,
                {int(period): days for period, days in kept.items()},
                float(about.get("memory_days", {}).get(provider, 0.0)),
                int(about.get("visible_after_s", {}).get(provider, 0)),
                _zip=opened,
                _targets=[_target(found, provider) for found in about["targets"] if _provider(found) == provider],
            )
            for provider, kept in _retention(about).items()
        )
    except DAMAGE as error:
        raise BadInput(
            f"{path} is not a recording ({error}): give a file that `plimsoll audit --record FILE` has written."
        ) from error


def _retention(about: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    """The days that each cloud keeps its metrics, by period; ValueError if no cloud is named."""
    kept = about["retention_days"]
    if not kept:
        raise ValueError("it names no cloud")
    return {AWS: kept} if about["format"] == READ_FORMATS[0] else kept


def _provider(found: Mapping[str, Any]) -> str:
    return str(found.get("provider", AWS))


def _target(found: Mapping[str, Any], provider: str) -> Target | FailedTarget:
    if "error" in found:
        return FailedTarget(name=str(found["name"]), error=error_in(found["error"]))
    return Target(account=str(found["account"]), region=str(found["region"]), provider=provider)


def _raise_recorded(content: bytes) -> None:
    """Raises the error in the place of an answer; what is none is left to who reads the answer."""
    if content.startswith(b'{"error"'):
        try:
            error = error_in(json.loads(content)["error"])
        except DAMAGE:
            return
        raise error
