"""The dialogs: how long to snooze, why to leave a volume out, and what is shown until an explanation is there.

Names and reasons are in plain text alone, where nothing of them is taken for a link or a mention.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from slack_sdk.models.blocks import (
    Block,
    InputBlock,
    Option,
    PlainTextInputElement,
    PlainTextObject,
    RadioButtonsElement,
    SectionBlock,
)
from slack_sdk.models.views import View

from plimsoll.slack.actions.asked import SNOOZE_DAYS, VolumeName
from plimsoll.slack.requests.payloads import View as SubmittedView

SNOOZE: Final = "snooze"
EXCLUDE: Final = "exclude"
DIALOGS: Final = frozenset({SNOOZE, EXCLUDE})
"""The dialogs that are submitted, by their callback ids."""

LONGEST_REASON: Final = 300
"""Characters of a reason, as `asked.Reason` takes it."""

_DAYS: Final = "days"
_REASON: Final = "reason"


class Origin(BaseModel):
    """What a dialog is about, and where its button was pressed; it comes back with the dialog."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    volume: VolumeName
    channel: str | None = None
    message: str | None = None
    thread: str | None = None
    response_url: str | None = None


def snooze(origin: Origin) -> dict[str, Any]:
    """The dialog that asks for how long there shall be silence about a volume, and why."""
    days = [Option(value=str(days), text=_plain(f"{days} days")) for days in SNOOZE_DAYS]
    choice = RadioButtonsElement(action_id=_DAYS, options=days, initial_option=days[0])
    return _dialog(
        "Snooze",
        [
            _said(f"No more word of {_short(origin.volume)} for so long. It is told again afterwards."),
            InputBlock(block_id=_DAYS, label=_plain("For how long?"), element=choice),
            _why("for example: a release is under way"),
        ],
        origin=origin,
        callback_id=SNOOZE,
        submit="Snooze",
    )


def exclude(origin: Origin) -> dict[str, Any]:
    """The dialog that asks why a volume is to be left out of audits."""
    return _dialog(
        "Not this volume",
        [
            _said(
                f"{_short(origin.volume)} is left out of all audits from now on. "
                "/plimsoll include with its id takes it in again."
            ),
            _why("for example: kept as it is for a licence"),
        ],
        origin=origin,
        callback_id=EXCLUDE,
        submit="Leave it out",
    )


def reading(volume: str) -> dict[str, Any]:
    """What is shown until the explanation of a volume is there."""
    return _dialog("Explain", [_said(f"Reading {_short(volume)}: this takes some seconds.")])


def notice(text: str) -> dict[str, Any]:
    """Some sentences, up to 3,000 characters, and nothing to do about them."""
    return _dialog("Plimsoll", [_said(text)])


def entered(view: SubmittedView) -> dict[str, Any]:
    """What was entered in a dialog, by name: the `reason`, and the `days` that are among those to choose from."""
    values = view.state.values
    chosen = values.get(_DAYS, {}).get(_DAYS, {}).get("selected_option")
    value = chosen.get("value") if isinstance(chosen, Mapping) else None
    found = {_REASON: values.get(_REASON, {}).get(_REASON, {}).get("value") or ""}
    return next((found | {_DAYS: days} for days in SNOOZE_DAYS if str(days) == value), found)


def _dialog(
    title: str,
    blocks: list[Block],
    *,
    origin: Origin | None = None,
    callback_id: str | None = None,
    submit: str | None = None,
) -> dict[str, Any]:
    made = View(
        type="modal",
        title=_plain(title),
        close=_plain("Cancel" if submit else "Close"),
        submit=_plain(submit) if submit else None,
        callback_id=callback_id,
        private_metadata=origin.model_dump_json(exclude_none=True) if origin else None,
        blocks=blocks,
    )
    return dict(made.to_dict())


def _why(example: str) -> Block:
    asked = PlainTextInputElement(action_id=_REASON, max_length=LONGEST_REASON, placeholder=_plain(example))
    return InputBlock(block_id=_REASON, label=_plain("Why? Others see it."), element=asked, optional=True)


def _said(text: str) -> Block:
    return SectionBlock(text=_plain(text))


def _plain(text: str) -> PlainTextObject:
    return PlainTextObject(text=text, emoji=False)


def _short(volume: str) -> str:
    """A volume's own id, whatever place stands before it."""
    return volume.rpartition("/")[2]
