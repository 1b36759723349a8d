"""Check a Terraform plan or CloudFormation change set against observed demand.

It says of each volume that the plan changes whether its demand, as a run observed it, would throttle, or need less.

PLAN is what `terraform show -json` or `aws cloudformation describe-change-set --include-property-values` prints. No
cloud is asked. Exit codes: 0 fine, 4 a change is refused by --fail-on, 3 a change could not be judged.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL
from plimsoll.cli.screen import beginning
from plimsoll.model.errors import BadInput
from plimsoll.reports.printable import put_out

_LISTED: Final = ("Read a run", 4)


def check_command(
    plan: Annotated[Path, typer.Argument(help="File of the plan, as JSON.")],
    run: Annotated[Path | None, typer.Option(help="Folder of a run. Default: the newest that has answers.")] = None,
    format_: Annotated[str, typer.Option("--format", help="text, json, sarif or md.")] = "text",
    fail_on: Annotated[str, typer.Option(help="Verdicts that exit with 4: throttles, or oversized (either).")] = (
        "throttles"
    ),
) -> None:
    with beginning("starting"):
        from plimsoll.api.checking import check_plan
        from plimsoll.reports.findings import FAIL_ON, FINDING_PRINTERS

    if format_ not in FINDING_PRINTERS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(FINDING_PRINTERS)}.")
    if fail_on not in FAIL_ON:
        raise BadInput(f"--fail-on {fail_on}: it must be one of {', '.join(FAIL_ON)}.")
    check = check_plan(plan, run)
    put_out(FINDING_PRINTERS[format_](check))
    if check.refuse(fail_on):
        raise typer.Exit(EXIT_OVER)
    if not check.is_whole:
        raise typer.Exit(PARTIAL)
