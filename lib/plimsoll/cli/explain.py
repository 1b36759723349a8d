"""One volume, read by the minute: what `plimsoll explain` prints, and what charts are drawn of."""

from datetime import datetime
from pathlib import Path

from plimsoll.bootstrap import Scope, clock, ports_of, recorded_ports
from plimsoll.clouds.registry import CLOUDS
from plimsoll.domain.demand import Demand
from plimsoll.domain.errors import BadInput, Unexpected
from plimsoll.domain.policy import Policy
from plimsoll.explain import explain_anywhere
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.settings import Settings


def read_volume(
    volume: str, scope: Scope, policy: Policy, *, from_: Path | None
) -> tuple[Answered, Demand | None, datetime]:
    """A volume's answer, its demand by the minute (None where no metrics were read), and the time of both: from its
    cloud, or from a recording. BadInput where there is no such volume, or it is left out."""
    settings, now = Settings.of_environment(), clock().now()
    if from_ is not None:
        audits, now = recorded_ports(from_, settings)
    else:
        audits = ports_of(scope, settings, today=now.date(), log_days=policy.log_days)
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
    return outcome, found.demand, now
