"""Posting a conversation: its main message, and pictures and replies in its thread, each of them once.

A ledger keeps what was posted: slack-posted.json in a run's folder, or the service's store.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_sdk import WebClient

from plimsoll.files import write_lines
from plimsoll.model.errors import BadInput, CloudError, OutOfTime, PlimsollError, Unanswered, Unexpected
from plimsoll.ports import RunStore
from plimsoll_service.slack.blocks.message import Conversation, SlackMessage
from plimsoll_service.slack.client import say, slack_errors

PACE_S: Final = 1.0
"""Seconds from one message of a channel to its next (docs.slack.dev/apis/web-api/rate-limits, November 2026)."""

EVENT_TYPE: Final = "plimsoll_report"
"""The kind of the metadata that messages carry: which run and which part of it they tell."""

POST_CLAIM_TIME: Final = timedelta(minutes=16)
"""The time for which what is posted is kept from others who would: a function lives for 15 minutes at most."""

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


class PostingProgress(BaseModel):
    """The parts of a conversation in a channel: `channel` is its id, `posted` each message's `ts` by its key.

    `sending` was begun and not ended when this was kept; of `doubtful` ones it is not known whether they arrived. A
    picture, and a message by a webhook, have no `ts`: theirs is empty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    channel: str | None = None
    posted: Mapping[str, str] = Field(default_factory=dict)
    doubtful: tuple[str, ...] = ()
    sending: str | None = None


class PostingLedger(Protocol):
    """A place that keeps which parts of one run stand in one channel."""

    def load(self) -> PostingProgress:
        """The progress that was kept last; an empty one if none was."""

    def keep(self, progress: PostingProgress) -> None:
        """Keeps the progress, whole or not at all."""


class _ChannelsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    channels: Mapping[str, PostingProgress] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLedger:
    """The posted parts of one run in one channel, in a file for all channels. Raises BadInput if it is damaged."""

    path: Path
    channel: str

    def load(self) -> PostingProgress:
        """The progress that was kept last; an empty one if none was."""
        return self._read_channels().channels.get(self.channel, PostingProgress())

    def keep(self, progress: PostingProgress) -> None:
        """Keeps the progress beside that of the other channels."""
        kept = _ChannelsFile(channels={**self._read_channels().channels, self.channel: progress})
        write_lines([kept.model_dump_json(indent=2), "\n"], self.path, "utf-8")

    @property
    def is_first(self) -> bool:
        """True if no run in a folder beside this one was posted to the channel."""
        files, channel = self.path.parent.absolute().parent.glob(f"*/{self.path.name}"), json.dumps(self.channel)
        others = (path for path in files if path != self.path.absolute())
        return not any(channel in path.read_text(encoding="utf-8", errors="replace") for path in others)

    def _read_channels(self) -> _ChannelsFile:
        if not self.path.exists():
            return _ChannelsFile()
        try:
            return _ChannelsFile.model_validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise BadInput(f"{self.path} is damaged: remove it, and everything can be posted again.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLedger:
    """The posted parts of one run in one channel, under a key of the store. Raises BadInput if it is damaged."""

    store: RunStore
    run_id: str
    channel: str

    def load(self) -> PostingProgress:
        """The progress that was kept last; an empty one if none was."""
        kept = self.store.get(self._key)
        try:
            return PostingProgress() if kept is None else PostingProgress.model_validate_json(kept)
        except ValidationError as error:
            raise damaged_key(self._key) from error

    def keep(self, progress: PostingProgress) -> None:
        """Keeps the progress in place of the one before."""
        self.store.put(self._key, progress.model_dump_json().encode())

    @property
    def is_first(self) -> bool:
        """True if no other run was posted to the channel before."""
        return self.store.get(self._latest_key) in {None, self.run_id.encode()}

    def keep_latest(self) -> None:
        """Keeps that this run was the last one to be posted to the channel."""
        self.store.put(self._latest_key, self.run_id.encode())

    @property
    def _latest_key(self) -> str:
        return f"slack/latest/{self.channel}"

    @property
    def _key(self) -> str:
        return f"slack/posted/{self.run_id}/{self.channel}.json"


def damaged_key(key: str) -> BadInput:
    """The error of a damaged value under a key of the store."""
    return BadInput(f"{key} in the store is damaged: delete it there, and it is written again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PngPicture:
    """A picture to be shown in the thread: its file's name, what it shows in a sentence, and the PNG image."""

    name: str
    title: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A conversation that stands in a channel: the channel's id and the main message's `ts`.

    `troubles` says, a sentence each, which of its pictures and replies are missing and why.
    """

    channel: str
    ts: str
    troubles: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Posting:
    """One attempt to post a conversation to a channel.

    With a `run_id` messages carry which run and which part of it they tell. `pause` lets seconds pass, `now` tells
    them. OutOfTime once `stop` says so before the next message. `subject` is what the main message is called, and
    `remedy` what to do if it is missing.
    """

    channel: str
    client: WebClient
    ledger: PostingLedger
    run_id: str = ""
    subject: str = "the report"
    remedy: str = "post the run again (plimsoll slack post --again)"
    pause: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    stop: Callable[[], bool] = lambda: False
    _progress: PostingProgress = field(init=False)
    _troubles: list[str] = field(init=False, default_factory=list)
    _last_s: float | None = field(init=False, default=None)

    def post(self, conversation: Conversation, pictures: Iterable[PngPicture] = ()) -> Posted:
        """Posts the parts that the ledger does not have as posted, a message a second, and says which parts stand.

        Slack has no key that would make a second request harmless. So every message is noted in the ledger before it is
        sent and after; one that was noted and not answered is doubtful, and never sent again by itself. Raises
        Unanswered if that is the main message, without whose `ts` there is no thread; another CloudError if Slack
        refuses what is to come as well, and the same call goes on later with what is missing. A picture or a reply that
        is refused for itself leaves the others: its sentence is in `troubles`.
        """
        self._progress = self.ledger.load()
        self._settle()
        ts = self._post_main(conversation.main)
        thread = self._progress.channel or self.channel
        for picture in pictures:
            self._post_picture(picture, thread, ts)
        for reply in conversation.replies:
            self._post_reply(reply_key(reply.key), reply.message, thread, ts)
        return Posted(channel=thread, ts=ts, troubles=tuple(self._troubles))

    def _settle(self) -> None:
        """Marks the message that an earlier call was sending as doubtful, and notes a trouble for each doubtful one."""
        if self._progress.sending is not None:
            self._keep(doubtful=(*self._progress.doubtful, self._progress.sending), sending=None)
        self._troubles += [self._doubt(key) for key in self._progress.doubtful if key != MAIN]

    def _post_main(self, message: SlackMessage) -> str:
        if MAIN in self._progress.doubtful:
            raise Unanswered(self._doubt(MAIN))
        if MAIN not in self._progress.posted:
            self._send_once(MAIN, message, self.channel, None)
        return self._progress.posted[MAIN]

    def _post_reply(self, key: str, message: SlackMessage, channel: str, ts: str) -> None:
        if key in self._progress.posted or key in self._progress.doubtful:
            return
        try:
            self._send_once(key, message, channel, ts)
        except (Unexpected, Unanswered) as error:
            self._troubles.append(str(error))

    def _post_picture(self, picture: PngPicture, channel: str, ts: str) -> None:
        """Posts a picture in the thread. A failure does not stop the report, and posting twice does no harm."""
        key = picture_key(picture.name)
        if key in self._progress.posted:
            return
        self._wait()
        try:
            with slack_errors(f"show the picture {picture.name} in {channel}"):
                self.client.files_upload_v2(
                    content=picture.png,
                    filename=picture.name,
                    title=picture.title,
                    alt_txt=picture.title,
                    channel=channel,
                    thread_ts=ts,
                )
        except CloudError as error:
            self._troubles.append(str(error))
        else:
            self._keep(posted={**self._progress.posted, key: ""})
        finally:
            self._last_s = self.now()

    def _send_once(self, key: str, message: SlackMessage, channel: str, thread: str | None) -> None:
        """Sends between two notes in the ledger; a clear refusal is noted as if it had not been tried."""
        self._wait()
        self._keep(sending=key)
        try:
            ts = self._send(key, message, channel, thread)
        except Unanswered as error:
            self._keep(doubtful=(*self._progress.doubtful, key), sending=None)
            raise Unanswered(self._doubt(key)) from error
        except CloudError:
            self._keep(sending=None)
            raise
        finally:
            self._last_s = self.now()
        self._keep(posted={**self._progress.posted, key: ts}, sending=None)

    def _send(self, key: str, message: SlackMessage, channel: str, thread: str | None) -> str:
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"run": self.run_id, "part": key}}
        purpose = f"post {self._message_name(key)} to {channel}"
        answer = say(self.client, message, channel, thread, to=purpose, metadata=metadata if self.run_id else None)
        self._progress = self._progress.model_copy(update={"channel": str(answer["channel"])})
        return str(answer["ts"])

    def _wait(self) -> None:
        if self.stop():
            raise OutOfTime(
                f"the function's time ran out before all of {self.subject} was in {self.channel}: try again."
            )
        if self._last_s is not None and (early_s := self._last_s + PACE_S - self.now()) > 0:
            self.pause(early_s)

    def _keep(self, **changed: Any) -> None:
        self._progress = self._progress.model_copy(update=changed)
        self.ledger.keep(self._progress)

    def _message_name(self, key: str) -> str:
        return self.subject if key == MAIN else f"the reply on {key.partition('/')[2]}"

    def _doubt(self, key: str) -> str:
        return (
            f"It is not known whether {self._message_name(key)} arrived in {self.channel}: Slack's answer was lost. It "
            f"is not sent again by itself; look into the channel, and where it is missing {self.remedy}."
        )


def post_everywhere(
    channels: Iterable[str], post: Callable[[str], tuple[str, ...]], subject: str
) -> dict[str, tuple[str, ...]]:
    """The troubles of each channel by its id, once it was posted to.

    A channel that fails does not stop the others: a CloudError at the end names each failure with its remedy. After
    OutOfTime nothing more is posted.
    """
    troubles: dict[str, tuple[str, ...]] = {}
    failed: dict[str, PlimsollError] = {}
    for channel in channels:
        try:
            troubles[channel] = post(channel)
        except OutOfTime as error:
            raise OutOfTime(" ".join([str(error), *_failure_sentences(failed)])) from error
        except PlimsollError as error:
            failed[channel] = error
    if failed:
        first, why = next(iter(failed.values())), " ".join(_failure_sentences(failed))
        raise CloudError(f"{subject} did not reach every channel. {why}") from first
    return troubles


def _failure_sentences(failed: Mapping[str, PlimsollError]) -> list[str]:
    return [f"{channel}: {error}" for channel, error in failed.items()]
