"""Slack's payloads for a button, a dialog and the command: what is read and admitted, and the request in each.

Fields as docs.slack.dev/reference/interaction-payloads and docs.slack.dev/interactivity/implementing-slash-commands
have them (checked 2026-11). What else Slack sends is ignored.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any, Final

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from plimsoll.clouds.registry import volume_pattern
from plimsoll_service.slack.actions.asked import Origin, RequestedVolume, SlackRequest
from plimsoll_service.slack.actions.registry import ACTIONS
from plimsoll_service.slack.blocks.elements import MENU, OPEN_REPORT, plan_of_block, volume_of_block
from plimsoll_service.slack.client import is_hook
from plimsoll_service.slack.requests.signed import Refused, malformed_content
from plimsoll_service.slack_config import SlackConfig

COMMAND: Final = "/plimsoll"

_VOLUME: Final = TypeAdapter[str](RequestedVolume, config=ConfigDict(defer_build=True))

_WORDS: Final = {action.name: action for action in ACTIONS.values() if action.command}

_AROUND: Final = "`*_~\"'“”\u2018\u2019„«»<>()[],.;:"
_QUOTES: Final = "`\"'“”\u2018\u2019„«»"
"""The signs that people, and what they copy from, put around an id, and those around a name."""

_EXAMPLE: Final = "vol-0123456789abcdef0"
_EXAMPLE_PLAN: Final = "20270115T080000Z-0115T093000"

_ABOUT: Final = {(True, False): f" {_EXAMPLE}", (False, True): " PLAN"}
"""The object of an action's word: a volume, or a plan of changes."""

HELP: Final = "\n".join(
    [
        "*Plimsoll* finds volumes that could be cheaper or faster, and shows the evidence.",
        *(
            f"• `/plimsoll {action.name}{_ABOUT.get((action.of_volume, action.of_plan), '')}` {action.command}"
            for action in _WORDS.values()
        ),
        f"A volume is its id, `111122223333/eu-west-1/{_EXAMPLE}`, its Name tag, or how its id begins.",
    ]
)

Maybe = Annotated[str | None, BeforeValidator(lambda given: given or None)]
"""A text that may be missing, which forms write as an empty one."""


class _Sent(BaseModel):
    """`persons_team` is the workspace or organization of the person. Errors do not repeat other people's texts."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True)

    user: str
    persons_team: Maybe = None
    team: Maybe = None
    enterprise: Maybe = None
    response_url: Maybe = None


class _Interaction(_Sent):
    """`team` is missing where the app is installed for a whole organization."""

    user: str = Field(validation_alias=AliasPath("user", "id"))
    persons_team: Maybe = Field(None, validation_alias=AliasPath("user", "team_id"))
    team: Maybe = Field(None, validation_alias=AliasPath("team", "id"))
    enterprise: Maybe = Field(
        None, validation_alias=AliasChoices(AliasPath("enterprise", "id"), AliasPath("team", "enterprise_id"))
    )


class Pressed(_Interaction):
    """A button that was pressed, or a line of a menu; `trigger_id` opens a view within 3 seconds."""

    action_id: str = Field(validation_alias=AliasPath("actions", 0, "action_id"))
    block_id: str = Field("", validation_alias=AliasPath("actions", 0, "block_id"))
    value: Maybe = Field(None, validation_alias=AliasPath("actions", 0, "value"))
    selected: Maybe = Field(None, validation_alias=AliasPath("actions", 0, "selected_option", "value"))
    trigger_id: str
    channel: Maybe = Field(None, validation_alias=AliasPath("channel", "id"))
    message_ts: Maybe = Field(None, validation_alias=AliasPath("message", "ts"))
    message_thread: Maybe = Field(None, validation_alias=AliasPath("message", "thread_ts"))
    container_thread: Maybe = Field(None, validation_alias=AliasPath("container", "thread_ts"))
    is_ephemeral: bool = Field(False, validation_alias=AliasPath("container", "is_ephemeral"))

    @property
    def name(self) -> str:
        """The action's name: the button's own, or that of the line chosen in the menu."""
        return self.selected or "" if self.action_id == MENU else self.action_id


class Submitted(_Interaction):
    """A dialog that was submitted; `private_metadata` is what we gave it, `values` what was entered."""

    view_id: str = Field(validation_alias=AliasPath("view", "id"))
    name: str = Field(validation_alias=AliasPath("view", "callback_id"))
    private_metadata: str = Field("", validation_alias=AliasPath("view", "private_metadata"))
    values: Mapping[str, Mapping[str, Mapping[str, Any]]] = Field(
        default_factory=dict, validation_alias=AliasPath("view", "state", "values")
    )

    @property
    def entered_values(self) -> dict[str, str]:
        """The values entered or chosen, by the ids of the inputs; empty inputs are left out."""
        values = {name: _value(element) for inputs in self.values.values() for name, element in inputs.items()}
        return {name: value for name, value in values.items() if value}


class Typed(_Sent):
    """The command as it was typed."""

    name: str = Field(validation_alias="command")
    user: str = Field(validation_alias="user_id")
    team: Maybe = Field(None, validation_alias="team_id")
    enterprise: Maybe = Field(None, validation_alias="enterprise_id")
    channel: str = Field(validation_alias="channel_id")
    trigger_id: str
    text: str = ""


SlackPayload = Pressed | Submitted | Typed

_INTERACTIONS: Final[Mapping[str, type[Pressed | Submitted]]] = {
    "block_actions": Pressed,
    "view_submission": Submitted,
}


def parse_payload(content: Mapping[str, Any]) -> SlackPayload:
    """The typed payload. Raises Refused (404) for another kind, (400) if something is missing or wrong."""
    kind = Typed if "command" in content else _INTERACTIONS.get(str(content.get("type")))
    if kind is None:
        raise Refused(HTTPStatus.NOT_FOUND, "unknown kind of interaction")
    try:
        return kind.model_validate(dict(content))
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        raise malformed_content(f"{place} is missing or wrong in the content") from error


def admit(payload: SlackPayload, config: SlackConfig | None, api_url: str) -> None:
    """Raises Refused for a request that is not to be answered.

    Refused (403): its workspace is not configured. Refused (404): its action is none of ours. Refused (400): it is to
    be answered elsewhere than at Slack.
    """
    _check_team(payload, config)
    if not _is_known(payload):
        raise Refused(HTTPStatus.NOT_FOUND, "unknown button, dialog or command")
    if payload.response_url is not None and not is_hook(payload.response_url, api_url):
        raise malformed_content("the address for answers is not Slack's")


def origin_of(press: Pressed) -> Origin:
    """The volume of a button, and where it was pressed. Raises Refused (400) if its row names no volume.

    A message that only the presser sees has no thread but the one that it was shown in.
    """
    try:
        volume = _VOLUME.validate_python(volume_of_block(press.block_id))
    except ValidationError as error:
        raise malformed_content("the row of buttons names no volume") from error
    message = None if press.is_ephemeral else press.message_ts
    return Origin(
        volume=volume,
        channel=press.channel,
        message=message,
        thread=press.container_thread if message is None else press.message_thread or message,
        response_url=press.response_url,
    )


def button_request(press: Pressed) -> SlackRequest:
    """The request of a button without a dialog.

    The same button of the same message is the same request, whoever presses it, unless the action may be repeated.
    """
    if ACTIONS[press.name].of_plan:
        return _plan_request(press)
    origin, name = origin_of(press), press.name
    lasts = origin.message is not None and not ACTIONS[name].repeats
    identity = (origin.channel, origin.message, origin.volume, name) if lasts else (press.trigger_id,)
    return _new_request(press, name, identity, origin.place)


def _plan_request(press: Pressed) -> SlackRequest:
    """The request of a plan's button: a member's presses are one. Raises Refused (400) without a plan."""
    message = None if press.is_ephemeral else press.message_ts
    where = {
        "plan": plan_of_block(press.block_id),
        "digest": press.value,
        "channel": press.channel,
        "thread": press.container_thread if message is None else press.message_thread or message,
        "response_url": press.response_url,
    }
    if where["plan"] is None or press.value is None:
        raise malformed_content("the row of buttons names no plan")
    try:
        return _new_request(press, press.name, (press.name, where["plan"], press.value, press.user), where)
    except ValidationError as error:
        raise malformed_content("the row of buttons names no plan") from error


def dialog_request(submitted: Submitted) -> SlackRequest:
    """The request of a dialog: each one that is opened is one request. Raises Refused (400) if it is altered."""
    try:
        origin = Origin.model_validate_json(submitted.private_metadata)
        entered = ACTIONS[submitted.name].entered.model_validate(submitted.entered_values).model_dump()
    except ValidationError as error:
        raise malformed_content("the dialog is not as it was opened") from error
    return _new_request(submitted, submitted.name, (submitted.view_id,), origin.place, entered=entered)


def command_request(typed: Typed) -> SlackRequest | str:
    """The request of the words after the command; an answer if they name no action."""
    word, *arguments = typed.text.split() or ["help"]
    action = _WORDS.get(word.lower())
    if action is None:
        return HELP if word.lower() == "help" else f"{_unknown_word(word.lower())} This is what I know:\n{HELP}"
    if action.of_plan:
        return _plan_word(typed, action.name, arguments)
    if not action.of_volume and arguments:
        return f"`/plimsoll {action.name}` takes no further words."
    if action.of_volume and (not arguments or (len(arguments) > 1 and any(map(_id_in, arguments)))):
        return f"Name one volume: for example `/plimsoll {action.name} {_EXAMPLE}`."
    try:
        name = " ".join(arguments)
        volume = _id_in(name) or name.strip(_QUOTES) if arguments else None
        where = {"volume": volume, "channel": typed.channel, "response_url": typed.response_url}
        return _new_request(typed, action.name, (typed.trigger_id,), where)
    except ValidationError:
        return f"This is no volume's name. Write for example `/plimsoll {action.name} {_EXAMPLE}`."


def _plan_word(typed: Typed, name: str, arguments: Sequence[str]) -> SlackRequest | str:
    if len(arguments) != 1:
        return f"Name one plan: for example `/plimsoll {name} {_EXAMPLE_PLAN}`."
    plan = arguments[0].strip(_AROUND)
    where = {"plan": plan, "channel": typed.channel, "response_url": typed.response_url}
    try:
        return _new_request(typed, name, (typed.trigger_id,), where)
    except ValidationError:
        return "This is no plan's name: the output of the execution that made the plan has it."


def _unknown_word(word: str) -> str:
    """The first sentence of the answer to an unknown word. It repeats only words that are ours, for safety's sake."""
    near = difflib.get_close_matches(word, [*_WORDS, "help"], n=1)
    return "I do not know that word." if not near else f"I do not know that word: did you mean `{COMMAND} {near[0]}`?"


def _id_in(word: str) -> str | None:
    """The id that a word is, alone or with its place; None for any other name."""
    plain = word.strip(_AROUND).lower()
    return plain if re.fullmatch(volume_pattern(), plain) else None


def _new_request(
    sent: SlackPayload, do: str, identity: tuple[str | None, ...], where: Mapping[str, Any], **optional: Any
) -> SlackRequest:
    """A new request; `identity` is hashed to its id, 32 letters and digits, so that a repeated request has the same."""
    return SlackRequest(
        id=sha256(json.dumps(identity).encode()).hexdigest()[:32],
        team=sent.team or sent.persons_team or sent.enterprise or "",
        enterprise=sent.enterprise,
        user=sent.user,
        do=do,
        **where,
        **optional,
    )


def _check_team(payload: SlackPayload, config: SlackConfig | None) -> None:
    """An organization is configured by its own id, which stands for all of its workspaces.

    People of other workspaces see our buttons in a shared channel: they are refused by their own workspace. Where there
    is an organization, `user.team_id` has its id (docs.slack.dev/reference/interaction-payloads, 2026-11).
    """
    if config is None:
        raise Refused(HTTPStatus.FORBIDDEN, "the service is not configured for Slack")
    if not {payload.team, payload.enterprise} & set(config.teams):
        raise Refused(HTTPStatus.FORBIDDEN, "the workspace is not configured")
    if payload.persons_team not in {None, payload.team, payload.enterprise, *config.teams}:
        raise Refused(HTTPStatus.FORBIDDEN, "the person is of another workspace")


def _is_known(payload: SlackPayload) -> bool:
    if isinstance(payload, Typed):
        return payload.name == COMMAND
    if isinstance(payload, Submitted):
        return payload.name in ACTIONS and ACTIONS[payload.name].dialog is not None
    action = ACTIONS.get(payload.name)
    return payload.name == OPEN_REPORT or (action is not None and (action.of_volume or action.of_plan))


def _value(element: Mapping[str, Any]) -> str:
    chosen = element.get("selected_option")
    value = chosen.get("value") if isinstance(chosen, Mapping) else element.get("value")
    return value if isinstance(value, str) else ""
