"""Snooze: reports leave a volume's recommendation out for some days."""

from datetime import timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict
from slack_sdk.models.blocks import InputBlock, Option, RadioButtonsElement

from plimsoll.model.people import DecisionKind
from plimsoll_service.slack.actions.action import ActionContext, ActionPlace, SlackAction, Words, keep_decision
from plimsoll_service.slack.actions.asked import Origin, ReasonText, dialog, reason_input
from plimsoll_service.slack.blocks.elements import plain_text

_DAYS: Final = ("7", "30", "90")
_WORDS: Final = Words(
    verb="snoozed",
    state="snoozed",
    follows="Audits go on. The first one from that day on reports it as new again.",
)


class _Entered(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    days: Literal["7", "30", "90"]
    reason: ReasonText = ""


def _dialog(origin: Origin) -> dict[str, Any]:
    options = [Option(value=days, text=plain_text(f"{days} days")) for days in _DAYS]
    choice = RadioButtonsElement(action_id="days", options=options, initial_option=options[0])
    return dialog(
        "Snooze",
        f"Reports leave {origin.volume_id} out for so long, and then report it again.",
        [
            InputBlock(block_id="days", label=plain_text("For how long?"), element=choice),
            reason_input("for example: a release is under way"),
        ],
        origin=origin,
        action="snooze",
        submit="Snooze",
    )


def _perform(work: ActionContext) -> None:
    entered = _Entered.model_validate(work.asked.entered)
    until = work.clock.now().date() + timedelta(days=int(entered.days))
    keep_decision(work, work.decision(DecisionKind.SNOOZE, reason=entered.reason, until=until), _WORDS)


SNOOZE_ACTION: Final = SlackAction(
    name="snooze", label="Snooze", shown=ActionPlace.MENU, dialog=_dialog, entered=_Entered, perform=_perform
)
