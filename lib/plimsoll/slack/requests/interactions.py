"""From a button, a dialog or words to what is asked, and where the answer goes."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.slack.actions.asked import Asked, VolumeName
from plimsoll.slack.actions.dialog import Origin
from plimsoll.slack.actions.registry import ACTIONS
from plimsoll.slack.blocks.elements import volume_of
from plimsoll.slack.requests.payloads import Pressed, Submitted, Typed
from plimsoll.slack.requests.signed import malformed

_VOLUME: Final = TypeAdapter(VolumeName)

_WORDS: Final = {action.name: action for action in ACTIONS.values() if action.command}

_AROUND: Final = "`*_~\"'“”\u2018\u2019„«»<>()[],.;:"
"""What people, and what they copy from, put around a volume's name; no name begins or ends with any of it."""

_EXAMPLE: Final = "vol-0123456789abcdef0"

HELP: Final = "\n".join(
    [
        "*Plimsoll* finds volumes that could be cheaper or faster, and shows the evidence.",
        *(
            f"• `/plimsoll {one.name}{f' {_EXAMPLE}' if one.of_volume else ''}` {one.command}"
            for one in _WORDS.values()
        ),
        f"A volume is its id, or account/region/id, which is quicker: `111122223333/eu-west-1/{_EXAMPLE}`.",
    ]
)


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that name no action, and what to answer."""

    answer: str


def origin_of(press: Pressed) -> Origin:
    """The volume of a button, and where it was pressed; Refused (400) where its row names no volume.

    A message that only the presser sees has no thread but the one that it was shown in.
    """
    try:
        volume = _VOLUME.validate_python(volume_of(press.block_id))
    except ValidationError as error:
        raise malformed("the row of buttons names no volume") from error
    message = None if press.is_ephemeral else press.message_ts
    return Origin(
        volume=volume,
        channel=press.channel,
        message=message,
        thread=press.container_thread if message is None else press.message_thread or message,
        response_url=press.response_url,
    )


def asked_by_button(press: Pressed) -> Asked:
    """What a button without a dialog asks.

    The same button of the same message is the same request, whoever presses it, unless the action may be repeated.
    """
    origin, name = origin_of(press), press.name
    lasts = origin.message is not None and not ACTIONS[name].repeats
    own = (origin.channel, origin.message, origin.volume, name) if lasts else (press.trigger_id,)
    return _asked(press, name, own, origin)


def asked_by_dialog(submitted: Submitted) -> Asked:
    """What a dialog asks: each one that is opened is one request. Refused (400) where it is not as we made it."""
    try:
        origin = Origin.model_validate_json(submitted.private_metadata)
        entered = ACTIONS[submitted.name].entered.model_validate(submitted.entered).model_dump()
    except ValidationError as error:
        raise malformed("the dialog is not as it was opened") from error
    return _asked(submitted, submitted.name, (submitted.view_id,), origin, entered)


def asked_by_words(typed: Typed) -> Asked | Unclear:
    """What the words after the command ask, or why they are unclear."""
    word, *rest = typed.text.split() or ["help"]
    action = _WORDS.get(word.lower())
    if action is None:
        return Unclear(HELP if word.lower() == "help" else f"I do not know that word. This is what I know:\n{HELP}")
    if not action.of_volume and rest:
        return Unclear(f"`/plimsoll {action.name}` takes no further words.")
    if action.of_volume and len(rest) != 1:
        return Unclear(f"Name one volume: for example `/plimsoll {action.name} {_EXAMPLE}`.")
    try:
        return Asked(
            id=_id(typed.trigger_id),
            team=typed.team or typed.enterprise or "",
            enterprise=typed.enterprise,
            user=typed.user,
            do=action.name,
            volume=rest[0].strip(_AROUND).lower() if rest else None,
            channel=typed.channel,
            response_url=typed.response_url,
        )
    except ValidationError:
        return Unclear(f"That is no volume's id. Write for example `/plimsoll {action.name} {_EXAMPLE}`.")


def _asked(
    sent: Pressed | Submitted,
    do: str,
    own: tuple[str | None, ...],
    origin: Origin,
    entered: dict[str, str] | None = None,
) -> Asked:
    return Asked(
        id=_id(*own),
        team=sent.team or sent.persons_team or sent.enterprise or "",
        enterprise=sent.enterprise,
        user=sent.user,
        do=do,
        volume=origin.volume,
        entered=entered or {},
        channel=origin.channel,
        thread=origin.thread,
        response_url=origin.response_url,
    )


def _id(*own: str | None) -> str:
    """A name of 32 letters and digits for what makes a request one and the same."""
    return sha256(json.dumps(own).encode()).hexdigest()[:32]
