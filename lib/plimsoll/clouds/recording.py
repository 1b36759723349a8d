"""A recording: what the clouds answered, in one file, so that an audit can be decided again without a cloud."""

import json
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from plimsoll.clouds.recording_format import (
    FORMAT,
    READ_FORMATS,
    REMARKS,
    book_adapter,
    error_in,
    found_member,
    member,
    unpack,
    volume_adapter,
)
from plimsoll.clouds.registry import AWS
from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import BadInput, CloudError, Unexpected
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import CallLimits, FailedTarget, Target, Usage


@dataclass(slots=True)
class Recording:
    """What a recording has of one cloud: it fulfils the inventory, metrics and prices ports itself."""

    path: Path
    now: datetime
    version: str
    provider: str
    retention_days: Mapping[int, float]
    visible_after_s: int = 0
    usage: Usage = field(default_factory=Usage)
    _zip: zipfile.ZipFile = field(repr=False, kw_only=True)
    _targets: Sequence[Mapping[str, Any]] = field(repr=False, kw_only=True)

    def targets(self) -> Sequence[Target | FailedTarget]:
        """The recorded targets, in their order."""
        return [
            FailedTarget(name=found["name"], error=error_in(found["error"]))
            if "error" in found
            else Target(account=found["account"], region=found["region"], provider=self.provider)
            for found in self._targets
        ]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """The recorded volumes of a target, then the recorded error if there was one."""
        for line in self._read(member(target, "volumes.jsonl")).splitlines():
            _raise_recorded(line)
            yield volume_adapter().validate_json(line)

    def notices(self, target: Target) -> Sequence[str]:
        """The recorded notices of a target."""
        return self._texts(member(target, "notices.json"))

    def book(self, target: Target) -> PriceBook | None:
        """The recorded price book of a target."""
        content = self._read(member(target, "prices.json"))
        _raise_recorded(content)
        return None if content == b"null" else book_adapter().validate_json(content)

    @property
    def call_limits(self) -> CallLimits:
        """No end of it: nothing is called."""
        return CallLimits(queries=sys.maxsize, datapoints=sys.maxsize)

    def series(self, _volume: Volume) -> int:
        """None that would have to be asked for."""
        return 0

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The recorded series of each look."""
        return [self._found(ask) for ask in asks]

    def remarks(self, target: Target) -> Sequence[str]:
        """The recorded remarks of a target."""
        return self._texts(member(target, REMARKS))

    def _found(self, ask: Ask) -> Found | CloudError:
        try:
            return unpack(self._zip.read(found_member(ask, "npz")))
        except KeyError:
            return self._recorded_error(ask)
        except _DAMAGE as error:
            return self._damaged(ask.volume.id, error)

    def _recorded_error(self, ask: Ask) -> CloudError:
        try:
            return error_in(json.loads(self._zip.read(found_member(ask, "error.json"))))
        except KeyError:
            return Unexpected(
                f"the recording {self.path} holds no metrics of {ask.volume.id} for this window and period: "
                "decide with the lookback_days and resolution_s it was recorded with."
            )

    def _texts(self, name: str) -> Sequence[str]:
        """The sentences of a member; none where there is no such member."""
        if name not in self._zip.namelist():
            return ()
        content = self._read(name)
        _raise_recorded(content)
        return list(json.loads(content))

    def _read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except KeyError as error:
            raise Unexpected(f"the recording {self.path} lacks {name}: it was interrupted; record it again.") from error
        except _DAMAGE as error:
            raise self._damaged(name, error) from error

    def _damaged(self, name: str, error: Exception) -> Unexpected:
        return Unexpected(f"the recording {self.path} is damaged at {name} ({error}): take another copy of it.")


def open_recording(path: Path) -> tuple[Recording, ...]:
    """What a recording has of each cloud that was asked, in their order; BadInput for a file that is no recording."""
    try:
        opened = zipfile.ZipFile(path)
        about = json.loads(opened.read("about.json"))
        if about["format"] not in READ_FORMATS:
            raise BadInput(f"{path} is a recording of format {about['format']}; this version reads {FORMAT}.")
        return tuple(
            Recording(
                path,
                datetime.fromisoformat(about["now"]),
                about["version"],
                provider,
                {int(period): days for period, days in kept.items()},
                int(about.get("visible_after_s", {}).get(provider, 0)),
                _zip=opened,
                _targets=[found for found in about["targets"] if found.get("provider", AWS) == provider],
            )
            for provider, kept in _retention(about).items()
        )
    except (OSError, zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path} is not a recording ({error}): give a file that `plimsoll audit --record FILE` has written."
        ) from error


def _retention(about: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    """How long each cloud that was asked keeps its metrics; ValueError where none is named."""
    kept = about["retention_days"]
    if not kept:
        raise ValueError("it names no cloud")
    return {AWS: kept} if about["format"] == READ_FORMATS[0] else kept


_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, ValueError)


def _raise_recorded(content: bytes) -> None:
    """Raises the error that stands in the place of an answer."""
    if content.startswith(b'{"error"'):
        raise error_in(json.loads(content)["error"])
