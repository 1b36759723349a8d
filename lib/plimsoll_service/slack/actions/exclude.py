"""Exclude ("Not this volume"): audits leave a volume out until somebody includes it again."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from plimsoll.model.people import DecisionKind
from plimsoll_service.slack.actions.action import (
    ActionContext,
    ActionPlace,
    SlackAction,
    Words,
    decided_volume,
    keep_decision,
)
from plimsoll_service.slack.actions.asked import Origin, ReasonText, dialog, reason_input
from plimsoll_service.slack.actions.include import INCLUDE_ACTION
from plimsoll_service.slack.blocks.elements import Control


class _Entered(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    reason: ReasonText = ""


def _dialog(origin: Origin) -> dict[str, Any]:
    return dialog(
        "Not this volume",
        f"All audits leave {origin.volume_id} out from now on. /plimsoll include with its id includes it again.",
        [reason_input("for example: kept as it is for a license")],
        origin=origin,
        action="exclude",
        submit="Exclude",
    )


def _perform(work: ActionContext) -> None:
    entered = _Entered.model_validate(work.asked.entered)
    decision = work.decision(DecisionKind.EXCLUDE, reason=entered.reason)
    words = Words(
        verb="excluded this volume from audits:",
        state="excluded from audits",
        follows=f"No audit reports it any more. /plimsoll include {decided_volume(decision)} includes it again.",
    )
    keep_decision(work, decision, words, offer=(Control(action=INCLUDE_ACTION.name, label=INCLUDE_ACTION.label),))


EXCLUDE_ACTION: Final = SlackAction(
    name="exclude", label="Not this volume", shown=ActionPlace.MENU, dialog=_dialog, entered=_Entered, perform=_perform
)
