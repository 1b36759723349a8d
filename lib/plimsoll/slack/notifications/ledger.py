"""The ledger of what was posted: as a file, slack-posted.json in a run's folder, and in the service's store."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.ports import RunStore
from plimsoll.writing import write_lines

POSTED: Final = "slack-posted.json"
"""The file's name in a run's folder."""

MAIN: Final = "main"
"""The main message's key in a ledger."""


def reply_key(key: str) -> str:
    """A reply's key in a ledger."""
    return f"reply/{key}"


def picture_key(name: str) -> str:
    """A picture's key in a ledger, by its file's name."""
    return f"picture/{name}"


class Progress(BaseModel):
    """What of a conversation stands in a channel: `channel` is its id, `posted` each message's `ts` by its key.

    `sending` was begun and not ended when this was kept; of `doubtful` ones it is not known whether they arrived. A
    picture, and a message by a webhook, have no `ts`: theirs is empty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    channel: str | None = None
    posted: Mapping[str, str] = Field(default_factory=dict)
    doubtful: tuple[str, ...] = ()
    sending: str | None = None


class PostingLedger(Protocol):
    """Where it is kept what of one run stands in one channel."""

    def load(self) -> Progress:
        """What was kept last; an empty Progress where nothing was."""

    def keep(self, progress: Progress) -> None:
        """Keeps it, whole or not at all."""


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    channels: Mapping[str, Progress] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLedger:
    """What of one run stands in one channel, in a file that holds every channel's; BadInput where it is damaged."""

    path: Path
    channel: str

    def load(self) -> Progress:
        """What was kept last; an empty Progress where nothing was."""
        return self._kept().channels.get(self.channel, Progress())

    def keep(self, progress: Progress) -> None:
        """Keeps it beside what the other channels have."""
        kept = _Kept(channels={**self._kept().channels, self.channel: progress})
        write_lines([kept.model_dump_json(indent=2), "\n"], self.path, "utf-8")

    def _kept(self) -> _Kept:
        if not self.path.exists():
            return _Kept()
        try:
            return _Kept.model_validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise BadInput(f"{self.path} is damaged: remove it, and everything can be posted again.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLedger:
    """What of a run stands in a channel, under a key of its own; BadInput where it is damaged."""

    store: RunStore
    run_id: str
    channel: str

    def load(self) -> Progress:
        """What was kept last; an empty Progress where nothing was."""
        kept = self.store.get(self._key)
        try:
            return Progress() if kept is None else Progress.model_validate_json(kept)
        except ValidationError as error:
            raise damaged(self._key) from error

    def keep(self, progress: Progress) -> None:
        """Keeps it in the place of what was known before."""
        self.store.put(self._key, progress.model_dump_json().encode())

    @property
    def _key(self) -> str:
        return f"slack/posted/{self.run_id}/{self.channel}.json"


def damaged(key: str) -> BadInput:
    """The error of what cannot be read under a key of the store."""
    return BadInput(f"{key} in the store is damaged: delete it there, and it is begun anew.")
