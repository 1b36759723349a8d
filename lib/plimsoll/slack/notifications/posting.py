"""Posting a conversation: its main message, and pictures and replies in its thread, each of them once."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from slack_sdk import WebClient

from plimsoll.domain.errors import CloudError, OutOfTime, Unanswered, Unexpected
from plimsoll.slack.blocks.message import Conversation, Message
from plimsoll.slack.client import asking, say
from plimsoll.slack.notifications.ledger import MAIN, PostingLedger, Progress, picture_key, reply_key

__all__ = ["Picture", "Posted", "PostingLedger", "Progress", "post"]

PACE_S: Final = 1.0
"""Seconds from one message of a channel to its next (docs.slack.dev/apis/web-api/rate-limits, November 2026)."""

EVENT_TYPE: Final = "plimsoll_report"
"""The kind of the metadata that messages carry: which run and which part of it they tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture to be shown in the thread: its file's name, what it shows in a sentence, and the PNG image."""

    name: str
    title: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A conversation that stands: the channel's id and the main message's `ts`.

    `troubles` says, a sentence each, which of its pictures and replies are missing and why.
    """

    channel: str
    ts: str
    troubles: tuple[str, ...] = ()


def post(
    conversation: Conversation,
    channel: str,
    client: WebClient,
    ledger: PostingLedger,
    pictures: Iterable[Picture] = (),
    *,
    run_id: str = "",
    pause: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
    stop: Callable[[], bool] = lambda: False,
) -> Posted:
    """Posts what the ledger has not as posted, a message a second, and says what stands.

    Slack has no key that would make a second request harmless. So every message is noted in the ledger before it is
    sent and after; one that was noted and not answered is doubtful, and never sent again by itself. Unanswered where
    that is the main message, without whose `ts` there is no thread; another CloudError where Slack refuses what is to
    come as well, and the same call goes on later with what is missing. A picture or a reply that is refused for itself
    leaves the others: its sentence is in `troubles`. OutOfTime once `stop` says so before the next one.
    """
    posting = _Posting(
        channel=channel,
        client=client,
        ledger=ledger,
        progress=ledger.load(),
        run_id=run_id,
        pause=pause,
        now=now,
        stop=stop,
    )
    posting.settle()
    ts = posting.main(conversation.main)
    thread = posting.progress.channel or channel
    for picture in pictures:
        posting.picture(picture, thread, ts)
    for reply in conversation.replies:
        posting.reply(reply.key, reply.message, thread, ts)
    return Posted(channel=thread, ts=ts, troubles=tuple(posting.troubles))


@dataclass(slots=True, kw_only=True)
class _Posting:
    channel: str
    client: WebClient
    ledger: PostingLedger
    progress: Progress
    run_id: str
    pause: Callable[[float], None]
    now: Callable[[], float]
    stop: Callable[[], bool]
    troubles: list[str] = field(default_factory=list)
    _last_s: float | None = None

    def settle(self) -> None:
        """Takes what was being sent when an earlier call ended for doubtful, and says of each doubtful one so."""
        if self.progress.sending is not None:
            self._keep(doubtful=(*self.progress.doubtful, self.progress.sending), sending=None)
        self.troubles += [_doubt(key, self.channel) for key in self.progress.doubtful if key != MAIN]

    def main(self, message: Message) -> str:
        """The main message's `ts`, posted now or before."""
        if MAIN in self.progress.doubtful:
            raise Unanswered(_doubt(MAIN, self.channel))
        if MAIN not in self.progress.posted:
            self._once(MAIN, lambda: self._send(MAIN, message, self.channel, None))
        return self.progress.posted[MAIN]

    def reply(self, key: str, message: Message, channel: str, ts: str) -> None:
        """A reply in the thread."""
        full_key = reply_key(key)
        if full_key in self.progress.posted or full_key in self.progress.doubtful:
            return
        try:
            self._once(full_key, lambda: self._send(full_key, message, channel, ts))
        except (Unexpected, Unanswered) as error:
            self.troubles.append(str(error))

    def picture(self, picture: Picture, channel: str, ts: str) -> None:
        """A picture in the thread: whatever goes wrong with it, the report stands; and twice does no harm."""
        key = picture_key(picture.name)
        if key in self.progress.posted:
            return
        self._wait()
        try:
            self._upload(picture, channel, ts)
        except CloudError as error:
            self.troubles.append(str(error))
        else:
            self._keep(posted={**self.progress.posted, key: ""})
        finally:
            self._last_s = self.now()

    def _once(self, key: str, send: Callable[[], str]) -> None:
        """Sends, between two notes in the ledger; what is refused for sure is noted as if it had not been tried."""
        self._wait()
        self._keep(sending=key)
        try:
            ts = send()
        except Unanswered as error:
            self._keep(doubtful=(*self.progress.doubtful, key), sending=None)
            raise Unanswered(_doubt(key, self.channel)) from error
        except CloudError:
            self._keep(sending=None)
            raise
        finally:
            self._last_s = self.now()
        self._keep(posted={**self.progress.posted, key: ts}, sending=None)

    def _send(self, key: str, message: Message, channel: str, thread: str | None) -> str:
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"run": self.run_id, "part": key}}
        told = f"post {_named(key)} to {channel}"
        answer = say(self.client, message, channel, thread, to=told, metadata=metadata if self.run_id else None)
        self.progress = self.progress.model_copy(update={"channel": str(answer["channel"])})
        return str(answer["ts"])

    def _upload(self, picture: Picture, channel: str, thread: str) -> None:
        with asking(f"show the picture {picture.name} in {channel}"):
            self.client.files_upload_v2(
                content=picture.png,
                filename=picture.name,
                title=picture.title,
                alt_txt=picture.title,
                channel=channel,
                thread_ts=thread,
            )

    def _wait(self) -> None:
        if self.stop():
            raise OutOfTime(f"time is over before all of the report stands in {self.channel}: try again.")
        if self._last_s is not None and (early_s := self._last_s + PACE_S - self.now()) > 0:
            self.pause(early_s)

    def _keep(self, **changed: Any) -> None:
        self.progress = self.progress.model_copy(update=changed)
        self.ledger.keep(self.progress)


def _named(key: str) -> str:
    """A message's key in words."""
    return "the report" if key == MAIN else f"the reply on {key.partition('/')[2]}"


def _doubt(key: str, channel: str) -> str:
    return (
        f"It is not known whether {_named(key)} arrived in {channel}: Slack's answer was lost. It is not sent again by "
        "itself; look into the channel, and where it is missing post the run again (plimsoll slack post --again)."
    )
