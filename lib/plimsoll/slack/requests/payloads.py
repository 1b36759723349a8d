"""What Slack sends when somebody presses a button, submits a dialog or types the command, as far as it is used.

Fields as docs.slack.dev/reference/interaction-payloads and docs.slack.dev/interactivity/implementing-slash-commands
have them (checked 2026-11). What else Slack sends is left aside.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from plimsoll.slack.requests.signed import HttpRequest, Refused

COMMAND: Final = "/plimsoll"

FORM: Final = "application/x-www-form-urlencoded"

Maybe = Annotated[str | None, BeforeValidator(lambda given: given or None)]
"""A text that may be missing, which forms write as an empty one."""


class _Payload(BaseModel):
    """Texts of other people are not repeated in an error."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Named(_Payload):
    """Something with an id."""

    id: str


class Workspace(Named):
    """A workspace, and the organization that it is part of."""

    enterprise_id: Maybe = None


class Person(Named):
    """Somebody, and the workspace, or in an organization of workspaces that organization, that they belong to."""

    team_id: Maybe = None


class _Interaction(_Payload):
    """`team` is missing where the app is installed for a whole organization."""

    user: Person
    team: Workspace | None = None
    enterprise: Named | None = None

    @property
    def enterprise_id(self) -> str | None:
        """The organization of workspaces that it comes from, as far as it says."""
        if self.enterprise is not None:
            return self.enterprise.id
        return self.team.enterprise_id if self.team else None


class Action(_Payload):
    """A button: its own name and that of the row it is in."""

    action_id: str
    block_id: str = ""


class Container(_Payload):
    """Where a button is."""

    message_ts: str | None = None
    thread_ts: str | None = None
    is_ephemeral: bool = False


class Posted(_Payload):
    """A message that stays."""

    ts: str
    thread_ts: str | None = None


class Pressed(_Interaction):
    """A button that was pressed; `trigger_id` opens a dialog within 3 seconds."""

    actions: tuple[Action, ...] = Field(min_length=1, max_length=1)
    trigger_id: str
    channel: Named | None = None
    message: Posted | None = None
    container: Container = Container()
    response_url: Maybe = None


class State(_Payload):
    """What was entered, by the ids of blocks and of their elements."""

    values: Mapping[str, Mapping[str, Mapping[str, Any]]] = Field(default_factory=dict)


class View(_Payload):
    """A dialog as it was submitted; `private_metadata` is what we gave it."""

    id: str
    callback_id: str
    private_metadata: str = ""
    state: State = State()


class Submitted(_Interaction):
    """A dialog that was submitted."""

    view: View


class Typed(_Payload):
    """The command as it was typed."""

    command: str
    team_id: Maybe = None
    enterprise_id: Maybe = None
    user_id: str
    channel_id: str
    trigger_id: str
    text: str = ""
    response_url: Maybe = None


class SslCheck(_Payload):
    """Slack looks whether the certificate is good, and wants nothing."""


Payload = Pressed | Submitted | Typed | SslCheck

_INTERACTIONS: Final[Mapping[str, type[Pressed | Submitted]]] = {
    "block_actions": Pressed,
    "view_submission": Submitted,
}


def content_of(request: HttpRequest) -> dict[str, Any]:
    """A request's content in plain values; Refused (400) where it is no form, or holds a payload that is no JSON."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != FORM:
        raise _malformed("the body is no form")
    fields = dict(parse_qsl(request.form, keep_blank_values=True))
    if not fields:
        raise _malformed("the form is empty")
    if "payload" not in fields:
        return fields
    try:
        found = json.loads(fields["payload"])
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, or a number of thousands of digits
        raise _malformed("the payload is no JSON") from error
    if not isinstance(found, dict):
        raise _malformed("the payload is no JSON object")
    return found


def parsed(content: Mapping[str, Any]) -> Payload:
    """What it is; Refused (404) for what is not taken here, (400) for what lacks something or has it wrong."""
    if content.get("ssl_check") == "1":
        return SslCheck()
    kind = Typed if "command" in content else _INTERACTIONS.get(str(content.get("type")))
    if kind is None:
        raise Refused(HTTPStatus.NOT_FOUND, "the kind of interaction is none that is taken")
    try:
        return kind.model_validate(dict(content))
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        raise _malformed(f"the content lacks {place}, or has it wrong") from error


def _malformed(reason: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, reason)
