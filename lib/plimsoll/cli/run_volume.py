"""A volume as a run knows it: its recommendation and its demand, or why there is none."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.api.runs import is_run
from plimsoll.cli.option_values import ScopeFile, policy_from, scope_from
from plimsoll.cli.options import PolicyOptions, ScopeOptions
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy

LiveSource = tuple[Scope, Policy, Path | None]
"""The accounts, policy and recording that a volume is read from by the minute."""


def live_from(
    run: Path | None, from_: Path | None, policy: PolicyOptions, chosen: ScopeOptions, *, fresh: bool
) -> LiveSource | None:
    """The source from which a volume is read anew; None for a run.

    `fresh` or an option about a cloud or a recording asks for it. BadInput where a run is named too.
    """
    by_options = scope_from(chosen, policy.prices, ScopeFile())
    if not any((fresh, from_, policy.policy, policy.set_)) and by_options == Scope():
        return None
    if run is not None:
        raise BadInput(
            "--run shows a run's answer; --fresh, and options about accounts and policies, ask the cloud. "
            "Give one of the two."
        )
    return scope_from(chosen, policy.prices), policy_from(policy), from_


def volume_and_run(words: Sequence[str], run: Path | None) -> tuple[str, Path | None]:
    """The volume that is meant, and the run if one is named too, in whichever order. BadInput for anything else."""
    names, run_folder = names_and_run(words, run)
    if len(names) > 1:
        raise BadInput(f"{' '.join(words)}: give one volume, and at most one run.")
    return names[0], run_folder


def names_and_run(words: Sequence[str], run: Path | None) -> tuple[list[str], Path | None]:
    """The names that are no run's folder, and the run if one is named too. BadInput for no name, or several runs."""
    runs = [word for word in words if is_run(Path(word))]
    names = [word for word in words if word not in runs]
    if names and len(runs) + (run is not None) <= 1:
        return names, Path(runs[0]) if runs else run
    if runs and not names:
        raise BadInput(
            f"{runs[0]} is a run: name one of its volumes too, such as those of its recommendations.csv, or see all of "
            f"it with: plimsoll report {runs[0]}"
        )
    raise BadInput(f"{' '.join(words)}: give one volume, and at most one run.")
