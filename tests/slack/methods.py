"""The methods of Slack's Web API that Plimsoll uses, as they answer: parameters in, an answer or a refusal."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .limits import check_message, check_view
from .workspace import BOT, TEAM, File, Message, Pace, Refused, View, Workspace, plain

TEXT_MAX = 40_000
"""Characters of a message's text; Slack cuts longer ones, here they are refused."""

Given = Mapping[str, Any]
Answer = dict[str, Any]


@dataclass(slots=True)
class Methods:
    """The Web API over a workspace; `address` is where uploads go."""

    there: Workspace
    pace: Pace
    address: str

    def auth_test(self, _given: Given) -> Answer:
        return {"url": "https://plimsoll.example.com/", "team": "Plimsoll", "user": "plimsoll", "team_id": TEAM} | {
            "user_id": BOT,
            "bot_id": "B0PLIMSOLL",
        }

    def chat_postMessage(self, given: Given) -> Answer:  # noqa: N802  # Slack's name
        channel = self.there.member_of(given.get("channel", ""))
        thread = given.get("thread_ts")
        if thread is not None:
            self.there.message(channel, thread, "thread_not_found")
        text, blocks = checked(given)
        self.pace.take(channel)
        message = Message(
            channel=channel,
            ts=self.there.stamp(),
            text=text,
            blocks=blocks,
            thread_ts=thread,
            metadata=plain(given.get("metadata")),
        )
        self.there.messages.append(message)
        return {"channel": channel, "ts": message.ts, "message": message.json}

    def chat_postEphemeral(self, given: Given) -> Answer:  # noqa: N802  # Slack's name
        channel = self.there.member_of(given.get("channel", ""))
        if not given.get("user"):
            raise Refused("invalid_arguments")
        text, blocks = checked(given)
        message = Message(
            channel=channel,
            ts=self.there.stamp(),
            text=text,
            blocks=blocks,
            thread_ts=given.get("thread_ts"),
            user=given["user"],
        )
        self.there.ephemerals.append(message)
        return {"message_ts": message.ts}

    def chat_update(self, given: Given) -> Answer:
        message = self.there.message(given.get("channel", ""), given.get("ts"))
        message.text, message.blocks = checked(given)
        message.edits += 1
        return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": message.json}

    def views_open(self, given: Given) -> Answer:
        trigger = given.get("trigger_id", "")
        if trigger not in self.there.triggers:
            raise Refused("invalid_trigger_id")
        if self.there.triggers[trigger]:
            raise Refused("exchanged_trigger_id")
        view = View(id=f"V{self.there.serial():08d}", hash=str(self.there.serial()), view=_view(given))
        self.there.triggers[trigger] = True
        self.there.views[view.id] = view
        return {"view": view.json}

    def views_update(self, given: Given) -> Answer:
        view = self.there.views.get(given.get("view_id", ""))
        if view is None:
            raise Refused("not_found")
        if given.get("hash") not in {None, view.hash}:
            raise Refused("hash_conflict")
        view.were.append(view.view)
        view.view, view.hash = _view(given), str(self.there.serial())
        return {"view": view.json}

    def usergroups_users_list(self, given: Given) -> Answer:
        if given.get("usergroup") not in self.there.groups:
            raise Refused("no_such_subteam")
        return {"users": self.there.groups[given["usergroup"]]}

    def files_getUploadURLExternal(self, given: Given) -> Answer:  # noqa: N802  # Slack's name
        length = int(given.get("length", 0))
        if not given.get("filename") or length <= 0:
            raise Refused("invalid_arguments")
        file = File(
            id=f"F{self.there.serial():08d}",
            name=given["filename"],
            length=length,
            alt_text=given.get("alt_txt") or "",
        )
        self.there.files[file.id] = file
        return {"upload_url": f"{self.address}/upload/v1/{file.id}", "file_id": file.id}

    def files_completeUploadExternal(self, given: Given) -> Answer:  # noqa: N802  # Slack's name
        channel = given.get("channel_id")
        channel = self.there.member_of(channel) if channel else None
        thread = given.get("thread_ts")
        if channel and thread:
            self.there.message(channel, thread, "thread_not_found")
        found = []
        for one in plain(given.get("files", "[]")):
            file = self.there.files.get(one["id"])
            if file is None or file.data is None or len(file.data) != file.length:
                raise Refused("file_not_found")
            file.title, file.channel, file.thread_ts = one.get("title") or file.name, channel, thread
            found.append({"id": file.id, "title": file.title})
        return {"files": found}


@dataclass(frozen=True, slots=True)
class Method:
    """A method, and the scope that it takes."""

    answer: Callable[[Methods, Given], Answer]
    scope: str | None = None


METHODS: Mapping[str, Method] = {
    "auth.test": Method(Methods.auth_test),
    "chat.postMessage": Method(Methods.chat_postMessage, "chat:write"),
    "chat.postEphemeral": Method(Methods.chat_postEphemeral, "chat:write"),
    "chat.update": Method(Methods.chat_update, "chat:write"),
    "views.open": Method(Methods.views_open),
    "views.update": Method(Methods.views_update),
    "usergroups.users.list": Method(Methods.usergroups_users_list, "usergroups:read"),
    "files.getUploadURLExternal": Method(Methods.files_getUploadURLExternal, "files:write"),
    "files.completeUploadExternal": Method(Methods.files_completeUploadExternal, "files:write"),
}


def checked(given: Given) -> tuple[str, list[dict[str, Any]]]:
    """A message's text and blocks, within Slack's limits."""
    text, blocks = given.get("text") or "", plain(given.get("blocks")) or []
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > TEXT_MAX:
        raise Refused("msg_too_long")
    try:
        check_message({"text": text, "blocks": blocks})
    except AssertionError as error:
        raise _invalid("invalid_blocks", error) from error
    return text, blocks


def _view(given: Given) -> dict[str, Any]:
    view = plain(given.get("view"))
    try:
        check_view(view)
    except AssertionError as error:
        raise _invalid("invalid_arguments", error) from error
    return dict(json.loads(json.dumps(view)))


def _invalid(code: str, error: AssertionError) -> Refused:
    return Refused(code, response_metadata={"messages": [f"[ERROR] {error}"]})
