"""One volume: as a run knows it, or read anew from its cloud by the minute."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from plimsoll.api.runs import run_folder
from plimsoll.auditing.explain import explain_anywhere
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.bootstrap.recordings import recorded_ports
from plimsoll.clouds.scope import Scope
from plimsoll.demand.demand import Demand
from plimsoll.model.errors import BadInput, Unexpected
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.policy_file import PolicyLike, policy_of
from plimsoll.reports.answers import answered_record, profile_record
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import find_absence, find_profile, find_record, full_name
from plimsoll.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A volume's recommendation, and its demand over time (None where no metrics were read). `run` is the folder of the
    run that both are from, None where they were read anew."""

    recommendation: RecommendationRecord
    demand: DemandProfileRecord | None
    run: Path | None = None


def explain(
    volume: str,
    run: Path | str | None = None,
    *,
    scope: Scope | None = None,
    policy: PolicyLike = None,
    recording: Path | str | None = None,
) -> Explanation:
    """One volume: what is recommended, why, and what was asked of it.

    It reads a run, the newest if none is named, and asks no cloud. With a `scope`, a `policy` or a `recording` the
    volume and its host are read anew, by the minute. Raises BadInput where there is no such volume, or it has no
    recommendation.
    """
    if scope is None and policy is None and recording is None:
        record, profile, folder = volume_in_run(volume, None if run is None else Path(run))
        return Explanation(recommendation=record, demand=profile, run=folder)
    if run is not None:
        raise BadInput("give either a run, or a scope, policy or recording to read again.")
    from_ = None if recording is None else Path(recording)
    answer, _, _ = read_volume(volume, scope or Scope(), policy_of(policy), from_=from_)
    answered, observed = answer.recommendation.volume, answer.profile
    demand = None if observed is None else profile_record(answered, observed)
    return Explanation(recommendation=answered_record(answer), demand=demand)


def volume_in_run(volume: str, run: Path | None) -> tuple[RecommendationRecord, DemandProfileRecord | None, Path]:
    """A volume's record, its demand (None where no metrics were read), and the run's folder.

    The run is the newest if none is named. BadInput, with the nearest volume, where the run has no such recommendation.
    """
    folder = _folder(run)
    record = find_record(folder, volume)
    if record is None:
        listed = "its recommendations.csv lists those that are in it."
        raise BadInput(find_absence(folder, volume, listed, " To ask the cloud, add --fresh."))
    return record, find_profile(folder, full_name(record)), folder


def read_volume(
    volume: str, scope: Scope, policy: Policy, *, from_: Path | None
) -> tuple[Answered, Demand | None, datetime]:
    """A volume's answer, its demand by the minute, and the time of both. They come from its cloud or from a recording.

    The demand is None where no metrics were read. BadInput where there is no such volume, or it is left out.
    """
    settings, now = Settings.from_environment(), clock().now()
    if from_ is not None:
        audits, now = recorded_ports(from_, settings)
    else:
        audits = ports_of(scope, settings, today=now.date(), log_days=policy.log_days)
    explained = explain_anywhere(audits, volume, policy, now)
    outcome = explained.outcome
    if isinstance(outcome, FailedVolume):
        raise Unexpected(f"{volume}: {outcome.reason}")
    if isinstance(outcome, Skipped):
        raise BadInput(f"{volume} is left out: {outcome.reason}.")
    return outcome, explained.demand, now


def _folder(run: Path | None) -> Path:
    try:
        return run_folder(run)
    except BadInput as error:
        if run is not None:
            raise
        raise BadInput(f"{error} To ask the cloud about this volume alone, add --fresh.") from error
