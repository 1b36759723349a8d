"""Measure a target with fio before you move to it.

On a scratch volume beside the workload's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli import options
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.screen import Screen, beginning
from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll_measure.cli.options import ValidateOptions
from plimsoll_measure.runs import Mode

if TYPE_CHECKING:
    from plimsoll.clouds.scope import Scope
    from plimsoll.model.policy import Policy

_LISTED: Final = ("Begin with", 7)


def validate_command(
    volume: Annotated[
        str | None, typer.Argument(help="A volume's id or name. Leave it out with --recommendation.")
    ] = None,
    recommendation: Annotated[
        Path | None, typer.Option(help="Validate the recommendations of this run whose evidence is thin.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Target to validate instead of the recommended one: flip, or TYPE[:IOPS[:MIB_S]]."),
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(help="With --recommendation: validate evidence below this grade (the policy's, else B)."),
    ] = None,
    *,
    measure: ValidateOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
) -> None:
    with beginning("starting"):
        from plimsoll.api.runs import is_run
        from plimsoll.cli.option_values import grade_from, policy_from, scope_from
        from plimsoll_measure.cli.run_validation import validate_recommendations

    if volume is not None and is_run(Path(volume)):
        raise BadInput(f"{volume} is a run: give it as --recommendation {volume}, or name one of its volumes.")
    if (volume is None) == (recommendation is None):
        raise BadInput("name one volume, or give a run with --recommendation.")
    if recommendation is not None:
        if target is not None or measure.mode is not Mode.CANARY:
            raise BadInput(
                "--recommendation validates what is recommended, on new volumes: leave out --target and --mode."
            )
        asked = scope.aws.external_id
        validate_recommendations(recommendation, grade_from(grade), measure, external_id=asked)
        return
    if grade is not None:
        raise BadInput("--grade chooses among a run's recommendations: give it with --recommendation.")
    _validate_volume(volume or "", target, scope_from(scope, policy.prices), policy_from(policy), measure)


def _validate_volume(volume: str, target: str | None, scope: Scope, policy: Policy, measure: ValidateOptions) -> None:
    """Validates one volume's target, prints the verdict and the recommendation that follows from it."""
    from plimsoll.auditing.list import find_listed
    from plimsoll.bootstrap.clouds import open_clouds
    from plimsoll.settings import Settings
    from plimsoll_measure.cli.validations import context_of, follow_validation, new_job
    from plimsoll_measure.validate import validate_volume

    settings, console = Settings.from_environment(), Screen(highlight=True)
    now = clock().now()
    if len(scope.clouds) > 1:
        raise BadInput("a volume belongs to one cloud: give a single --cloud.")
    (cloud,) = open_clouds(scope, settings, today=now.date())
    listed = find_listed([volume], [cloud.ports])[volume]
    if isinstance(listed, PlimsollError):
        raise listed
    job = new_job(str(listed.volume.id), target, measure, cloud.ports, now)
    ended = follow_validation(console, validate_volume(job, context_of(cloud, policy, measure, settings, console)))
    if ended:
        raise typer.Exit(PARTIAL)
