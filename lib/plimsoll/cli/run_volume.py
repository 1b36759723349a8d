"""A volume as a run knows it: its recommendation and its demand, or why there is none."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from plimsoll.bootstrap import Scope
from plimsoll.cli.option_values import policy_from, scope_from
from plimsoll.cli.options import PolicyOptions, ScopeOptions
from plimsoll.cli.run_folder import is_run, run_folder
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import find_profile, find_record, full_name, stream_records, stream_unanswered

Live = tuple[Scope, Policy, Path | None]
"""The accounts, policy and recording that a volume is read from by the minute."""


def live_from(
    run: Path | None, from_: Path | None, policy: PolicyOptions, given: ScopeOptions, *, fresh: bool
) -> Live | None:
    """Where a volume is read anew: None, from a run, unless `fresh` or an option about a cloud or a recording says so.

    BadInput where a run is named too.
    """
    scope = scope_from(given, policy.prices)
    if not any((fresh, from_, policy.policy, policy.set_)) and scope == Scope():
        return None
    if run is not None:
        raise BadInput(
            "--run shows what a run has read. --fresh, and options of accounts and policies, read anew: give one kind."
        )
    return scope, policy_from(policy), from_


def volume_and_run(words: Sequence[str], run: Path | None) -> tuple[str, Path | None]:
    """The volume that is meant, and the run if one is named too, in whichever order. BadInput for anything else."""
    runs = [word for word in words if is_run(Path(word))]
    volumes = [word for word in words if word not in runs]
    if len(volumes) == 1 and len(runs) + (run is not None) <= 1:
        return volumes[0], Path(runs[0]) if runs else run
    if runs and not volumes:
        raise BadInput(
            f"{runs[0]} is a run: name one of its volumes too, such as those of its recommendations.csv, or see all of "
            f"it with: plimsoll report {runs[0]}"
        )
    raise BadInput(f"{' '.join(words)}: give one volume, and at most one run.")


def volume_in_run(volume: str, run: Path | None) -> tuple[RecommendationRecord, DemandProfileRecord | None, Path]:
    """A volume's record, its demand (None where no metrics were read), and the run's folder: the newest if none is
    named. BadInput, with the nearest volume, where the run has no such recommendation."""
    folder = _folder(run)
    record = find_record(folder, volume)
    if record is None:
        raise BadInput(_why_none(folder, volume))
    return record, find_profile(folder, full_name(record)), folder


def _folder(run: Path | None) -> Path:
    try:
        return run_folder(run)
    except BadInput as error:
        if run is not None:
            raise
        raise BadInput(f"{error} To ask the cloud about this volume alone, add --fresh.") from error


def _why_none(folder: Path, volume: str) -> str:
    reason = next((one.reason for one in stream_unanswered(folder) if volume in {one.volume_id, full_name(one)}), None)
    if reason is not None:
        return f"{volume} has no recommendation in {folder}: {reason}"
    near = difflib.get_close_matches(volume, [record.volume_id for record in stream_records(folder)], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "its recommendations.csv lists those that are in it."
    return f"there is no volume {volume} in {folder}: {hint} To ask the cloud, add --fresh."
