"""Exclude ("Not this volume"): audits leave a volume out until somebody includes it again."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from plimsoll.domain.people_decisions import DecisionKind
from plimsoll.slack.actions.action import Action, Shown, Words, Work, decide, full_name
from plimsoll.slack.actions.asked import Origin, Reason, dialog, reason_input
from plimsoll.slack.actions.include import INCLUDE
from plimsoll.slack.blocks.elements import Control


class _Entered(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    reason: Reason = ""


def _dialog(origin: Origin) -> dict[str, Any]:
    return dialog(
        "Not this volume",
        f"All audits leave {origin.volume_id} out from now on. /plimsoll include with its id includes it again.",
        [reason_input("for example: kept as it is for a license")],
        origin=origin,
        action="exclude",
        submit="Exclude",
    )


def _perform(work: Work) -> None:
    entered = _Entered.model_validate(work.asked.entered)
    decision = work.decision(DecisionKind.EXCLUDE, reason=entered.reason)
    words = Words(
        verb="excluded this volume from audits:",
        state="excluded from audits",
        follows=f"No audit reports it any more. /plimsoll include {full_name(decision)} includes it again.",
    )
    decide(work, decision, words, offer=(Control(action=INCLUDE.name, label=INCLUDE.label),))


EXCLUDE: Final = Action(
    name="exclude", label="Not this volume", shown=Shown.MENU, dialog=_dialog, entered=_Entered, perform=_perform
)
