"""From what was pressed, submitted or typed to what is asked: the wish, and where the answer goes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.slack.actions.asked import (
    Asked,
    Audit,
    Done,
    Exclude,
    Explain,
    Include,
    Savings,
    Snooze,
    Validate,
    VolumeName,
    Wish,
)
from plimsoll.slack.blocks.elements import volume_of
from plimsoll.slack.requests.dialogs import EXCLUDE, SNOOZE, Origin, entered
from plimsoll.slack.requests.payloads import Pressed, Submitted, Typed
from plimsoll.slack.requests.signed import Refused

_VOLUME: Final = TypeAdapter(VolumeName)

_BUTTONS: Final[Mapping[str, Callable[[str], Wish]]] = {
    "explain": lambda volume: Explain(volume=volume),
    "validate": lambda volume: Validate(volume=volume),
    "done": lambda volume: Done(volume=volume),
    "include": lambda volume: Include(volume=volume),
}
"""Buttons that need no dialog."""

_OF_A_VOLUME: Final[Mapping[str, Callable[[str], Wish]]] = {
    name: _BUTTONS[name] for name in ("explain", "validate", "include")
}
_OF_ALL: Final[Mapping[str, Callable[[], Wish]]] = {"audit": Audit, "savings": Savings}

_AROUND: Final = "`*_~\"'“”\u2018\u2019„«»<>()[],.;:"
"""What people, and what they copy from, put around a volume's name; no name begins or ends with any of it."""

HELP: Final = """\
*Plimsoll* says which EBS volumes could be cheaper or faster, and what evidence stands behind that.
• `/plimsoll savings` what the last audit found
• `/plimsoll explain vol-0123456789abcdef0` why something is recommended of a volume, or nothing
• `/plimsoll validate vol-0123456789abcdef0` measure what is recommended of it
• `/plimsoll include vol-0123456789abcdef0` audit it again, where somebody said "Not this volume"
• `/plimsoll audit` audit everything now
A volume is its id, or account/region/id, which is quicker: `111122223333/eu-west-1/vol-0123456789abcdef0`."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that are no wish, and what to say to who typed them."""

    answer: str


def origin_of(press: Pressed) -> Origin:
    """The volume that a button is about, and where it was pressed; Refused (400) where its row is none of ours.

    In a message that the presser alone sees there is no thread but the one that it was shown in.
    """
    lasting = None if press.container.is_ephemeral else press.message
    try:
        volume = _VOLUME.validate_python(volume_of(press.actions[0].block_id))
    except ValidationError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "the row of buttons names no volume") from error
    return Origin(
        volume=volume,
        channel=press.channel.id if press.channel else None,
        message=lasting.ts if lasting else None,
        thread=(lasting.thread_ts or lasting.ts) if lasting else press.container.thread_ts,
        response_url=press.response_url,
    )


def asked_by_button(press: Pressed) -> Asked:
    """What a button without a dialog asks.

    The same button of the same message asks the same by whomever and however often it is pressed, apart from an
    explanation, which is read anew for everybody.
    """
    origin, do = origin_of(press), press.actions[0].action_id
    lasts = do != "explain" and origin.message is not None
    own = (origin.channel, origin.message, origin.volume, do) if lasts else (press.trigger_id,)
    return _asked(press, own, _BUTTONS[do](origin.volume), origin)


def asked_by_dialog(submitted: Submitted) -> Asked:
    """What a dialog asks: each one that is opened asks once. Refused (400) where it is not as we made it."""
    view = submitted.view
    try:
        origin, given = Origin.model_validate_json(view.private_metadata), entered(view)
        wish: Wish
        if view.callback_id == SNOOZE:
            wish = Snooze.model_validate({"volume": origin.volume, **given})
        elif view.callback_id == EXCLUDE:
            wish = Exclude.model_validate({"volume": origin.volume, **given})
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "the dialog asks for nothing")
    except ValidationError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "the dialog is not as it was opened") from error
    return _asked(submitted, (view.id,), wish, origin)


def asked_by_words(typed: Typed) -> Asked | Unclear:
    """What the words after the command ask, or what is unclear of them."""
    wish = _wish_of(typed.text.split())
    if isinstance(wish, Unclear):
        return wish
    return Asked(
        id=_id(typed.trigger_id),
        team=typed.team_id or typed.enterprise_id or "",
        enterprise=typed.enterprise_id,
        user=typed.user_id,
        wish=wish,
        channel=typed.channel_id,
        response_url=typed.response_url,
    )


def _wish_of(words: list[str]) -> Wish | Unclear:
    word, rest = words[0].lower() if words else "help", words[1:]
    if word in _OF_ALL and not rest:
        return _OF_ALL[word]()
    if word in _OF_A_VOLUME and len(rest) == 1:
        try:
            return _OF_A_VOLUME[word](rest[0].strip(_AROUND).lower())
        except ValidationError:
            return Unclear(f"That is no volume's id. Write for example `/plimsoll {word} vol-0123456789abcdef0`.")
    if word in _OF_A_VOLUME:
        return Unclear(f"Name one volume: for example `/plimsoll {word} vol-0123456789abcdef0`.")
    if word in _OF_ALL:
        return Unclear(f"`/plimsoll {word}` takes no further words.")
    return Unclear(HELP if word == "help" else f"I do not know that word. This is what I know:\n{HELP}")


def _asked(payload: Pressed | Submitted, own: tuple[str | None, ...], wish: Wish, origin: Origin) -> Asked:
    team = payload.team.id if payload.team else payload.user.team_id
    return Asked(
        id=_id(*own),
        team=team or payload.enterprise_id or "",
        enterprise=payload.enterprise_id,
        user=payload.user.id,
        wish=wish,
        channel=origin.channel,
        thread=origin.thread,
        response_url=origin.response_url,
    )


def _id(*own: str | None) -> str:
    """A name of 32 letters and digits for what makes a request one and the same."""
    return sha256(json.dumps(own).encode()).hexdigest()[:32]
