"""A Slack workspace as far as Plimsoll uses one: channels with their messages, files, views, user groups."""

import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TEAM = "T0PLIMSOLL"
BOT = "U0PLIMSOLL"
CHANNEL = "C0STORAGE"
ELSEWHERE = "C0ELSEWHERE"
"""A channel that the app has not been invited to."""
GROUP = "S0STORAGE"
MEMBER = "U0ANNA"

SCOPES = frozenset({"chat:write", "files:write", "usergroups:read", "commands"})
RESPONSES_MAX = 5
"""How often a response_url can be used, within 30 minutes."""


class Refused(Exception):
    """Slack's refusal: its code, and what it says besides."""

    def __init__(self, code: str, *, status: int = 200, retry_after_s: int | None = None, **more: Any) -> None:
        super().__init__(code)
        self.code, self.status, self.retry_after_s, self.more = code, status, retry_after_s, more


@dataclass(slots=True, kw_only=True)
class Message:
    """A message as it stands in its channel; `edits` counts updates, `user` is who alone sees an ephemeral one."""

    channel: str
    ts: str
    text: str
    blocks: list[dict[str, Any]]
    thread_ts: str | None = None
    metadata: dict[str, Any] | None = None
    edits: int = 0
    user: str | None = None

    @property
    def json(self) -> dict[str, Any]:
        """As Slack gives it in answers and in the payloads of actions."""
        found: dict[str, Any] = {
            "type": "message",
            "user": BOT,
            "ts": self.ts,
            "text": self.text,
            "blocks": self.blocks,
            "team": TEAM,
        }
        return found | ({"thread_ts": self.thread_ts} if self.thread_ts else {})


@dataclass(slots=True, kw_only=True)
class File:
    """A file from the request for its upload on; shared where it has a channel."""

    id: str
    name: str
    length: int
    alt_text: str = ""
    title: str = ""
    data: bytes | None = None
    channel: str | None = None
    thread_ts: str | None = None


@dataclass(slots=True, kw_only=True)
class View:
    """An open modal: `view` as it stands; every one that it was."""

    id: str
    hash: str
    view: dict[str, Any]
    were: list[dict[str, Any]] = field(default_factory=list)

    @property
    def json(self) -> dict[str, Any]:
        """As Slack gives it in answers and in payloads."""
        return {**self.view, "id": self.id, "hash": self.hash, "team_id": TEAM, "root_view_id": self.id}


class VirtualClock:
    """Time that passes by waiting alone: for the server, and as `pause` and `now` of who is tested."""

    def __init__(self, now_s: float = 1_763_700_000.0) -> None:
        self._now_s, self.paused_s = now_s, 0.0

    def now(self) -> float:
        """Seconds since 1970."""
        return self._now_s

    def pause(self, seconds: float) -> None:
        """Waits."""
        self._now_s += seconds
        self.paused_s += seconds


@dataclass(slots=True)
class Pace:
    """A message a `seconds` in each channel, after a burst of some; 0 seconds is no limit."""

    seconds: float
    burst: int
    now: Callable[[], float]
    _due: dict[str, float] = field(default_factory=dict)

    def take(self, channel: str) -> None:
        """Counts a message; refuses it with 429 and Retry-After where it comes too early."""
        if not self.seconds:
            return
        now = self.now()
        due = max(self._due.get(channel, now), now)
        early = due - now - self.seconds * (self.burst - 1)
        if early > 1e-6:
            raise Refused("ratelimited", status=429, retry_after_s=max(1, math.ceil(early)))
        self._due[channel] = due + self.seconds


@dataclass(slots=True)
class Workspace:
    """What is there; everything under `lock`."""

    now: Callable[[], float] = time.time
    channels: dict[str, str] = field(default_factory=lambda: {CHANNEL: "storage"})
    elsewhere: dict[str, str] = field(default_factory=lambda: {ELSEWHERE: "elsewhere"})
    groups: dict[str, list[str]] = field(default_factory=lambda: {GROUP: [MEMBER]})
    messages: list[Message] = field(default_factory=list)
    ephemerals: list[Message] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    triggers: dict[str, bool] = field(default_factory=dict)
    responses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    hooked: list[dict[str, Any]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=lambda: threading.Condition(threading.RLock()))
    _serial: int = 0

    def serial(self) -> int:
        """A number that was not given before."""
        self._serial += 1
        return self._serial

    def stamp(self) -> str:
        """A message's `ts`: its time, and unique in its channel."""
        return f"{int(self.now())}.{self.serial():06d}"

    def member_of(self, channel: str) -> str:
        """A channel's id, by its id or name; refused where the app is not in it."""
        for there, code in ((self.channels, ""), (self.elsewhere, "not_in_channel")):
            for id_, name in there.items():
                if channel.removeprefix("#") in {id_, name}:
                    if code:
                        raise Refused(code)
                    return id_
        raise Refused("channel_not_found")

    def message(self, channel: str, ts: str | None, code: str = "message_not_found") -> Message:
        """The message of a channel by its `ts`."""
        for one in self.messages:
            if (one.channel, one.ts) == (channel, ts):
                return one
        raise Refused(code)

    def in_channel(self, channel: str = CHANNEL) -> list[Message]:
        """The messages of a channel that are no replies, oldest first."""
        return [one for one in self.messages if one.channel == channel and one.thread_ts is None]

    def in_thread(self, ts: str, channel: str = CHANNEL) -> list[Message]:
        """The replies to a message, oldest first."""
        return [one for one in self.messages if one.channel == channel and one.thread_ts == ts]


def plain(value: Any) -> Any:
    """A parameter as it is meant, whether it came in JSON or as JSON in a form."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


def text_of(payload: Mapping[str, Any]) -> str:
    """Every text of a message or view that people read, a line each: what a test looks for words in."""
    found: list[str] = []

    def look(value: Any) -> None:
        if isinstance(value, Mapping):
            if isinstance(value.get("text"), str):
                found.append(value["text"])
            for inner in value.values():
                look(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                look(inner)

    look(payload)
    return "\n".join(found)
