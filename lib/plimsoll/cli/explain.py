"""`plimsoll explain`: one volume on one screen."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console

from plimsoll.bootstrap import Scope, change_ledger, clock, console_link, ports_of, recorded_ports
from plimsoll.clouds.registry import CLOUDS
from plimsoll.domain.demand import Demand
from plimsoll.domain.errors import BadInput, Unexpected
from plimsoll.domain.policy import Policy
from plimsoll.explain import explain_anywhere
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.reports.terminal.explain import show_explanation
from plimsoll.reports.to_record import record_of
from plimsoll.settings import Settings


def explain_volume(volume: str, scope: Scope, policy: Policy, *, from_: Path | None) -> None:
    """Prints one volume's explanation, from its cloud or from a recording."""
    found = read_volume(volume, scope, policy, from_=from_)
    answer = found.answer
    record = record_of(answer.recommendation, answer.change, provider=answer.target.provider)
    show_explanation(Console(), answer.recommendation, found.demand, record, console_link(record, policy, found.now))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVolume:
    """A volume's answer by every minute of its demand (None where no metrics were read), at a point in time."""

    answer: Answered
    demand: Demand | None
    now: datetime


def read_volume(volume: str, scope: Scope, policy: Policy, *, from_: Path | None) -> ReadVolume:
    """One volume's answer, from its cloud or from a recording; BadInput where there is none, or it is left out."""
    settings = Settings.of_environment()
    now = clock().now()
    if from_ is not None:
        audits, now = recorded_ports(from_, settings)
    else:
        ledger = change_ledger(settings)
        audits = ports_of(scope, settings, today=now.date(), ledger=ledger)
    found = explain_anywhere(audits, volume, policy, now)
    if found is None:
        words = [CLOUDS[cloud].words for cloud in scope.clouds]
        places = " or ".join(f"{one.account}s" for one in words)
        options = ", ".join(one.account_option for one in words)
        raise BadInput(f"there is no volume {volume} in these {places} and regions: check {options} and --region.")
    outcome = found.outcome
    if isinstance(outcome, FailedVolume):
        raise Unexpected(f"{volume}: {outcome.reason}")
    if isinstance(outcome, Skipped):
        raise BadInput(f"{volume} is left out: {outcome.reason}.")
    return ReadVolume(answer=outcome, demand=found.demand, now=now)
