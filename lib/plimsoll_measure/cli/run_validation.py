"""The validation of a run: its recommendations on thin evidence are measured, and decided again in its files."""

from dataclasses import asdict
from pathlib import Path

import typer

from plimsoll.api.runs import run_folder
from plimsoll.bootstrap.clouds import open_clouds
from plimsoll.cli.exit_codes import PARTIAL
from plimsoll.cli.options import MeasureOptions
from plimsoll.cli.run_reports import leave_reports
from plimsoll.cli.screen import Screen
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Grade
from plimsoll.orders import read_order
from plimsoll.reports.run_folder import RunFolder
from plimsoll.reports.wording import count_of
from plimsoll.settings import Settings
from plimsoll_measure.cli.options import ValidateOptions
from plimsoll_measure.cli.validations import any_place_in, context_of, follow_validation, new_name
from plimsoll_measure.validate import RunEvent, RunValidation


def validate_audited(folder: Path, measure: MeasureOptions, console: Screen) -> None:
    """Validates what an audit has just recommended on thin evidence, for `audit --validate`."""
    validate_recommendations(folder, None, ValidateOptions(**asdict(measure)), console=console)


def validate_recommendations(
    folder: Path,
    least: Grade | None,
    options: ValidateOptions,
    *,
    external_id: str | None = None,
    console: Screen | None = None,
) -> None:
    """Validates the recommendations of a run whose evidence is thin, and puts the new answers into its files."""
    settings, console = Settings.from_environment(), console or Screen(highlight=True)
    order = read_order(run_folder(folder))
    if "recording" in order.scope:
        raise BadInput(f"{folder} was decided from a recording, in which nothing can be measured: validate a run.")
    scope = Scope.from_dict(order.scope, external_id=external_id)
    clouds = list(open_clouds(scope, settings, today=order.now.date()))
    run, ended = RunFolder(folder), list[RunEvent]()
    reported, measured = True, False
    try:
        with run:
            for cloud in clouds:
                context = context_of(cloud, order.policy, options, settings, console)
                place = any_place_in(cloud.ports)
                validation = RunValidation(
                    name=new_name(), place=place, now=order.now, budget=options.budget, least=least, context=context
                )
                records = [record for record in run.records() if record.provider == place.provider]
                ended += follow_validation(console, validation.events(records), run.change)
                measured = measured or validation.runs > 0
    finally:
        if run.changed:
            console.say(f"decided again: {count_of(run.changed, 'recommendation')} in {folder}")
            reported = leave_reports(console, folder)
    if not measured:
        console.say(
            "nothing was measured: no recommendation that can be carried out has evidence under the grade, or the "
            "budget allows no run."
        )
    if ended or not reported:
        raise typer.Exit(PARTIAL)
