"""The command line: one command per capability, and errors as a sentence and an exit code."""

import sys

import typer
from rich.console import Console

from plimsoll.cli import commands
from plimsoll.cli.exit_codes import INTERRUPTED, PARTIAL, UNUSABLE
from plimsoll.domain.errors import BadInput, PlimsollError

app = typer.Typer(
    help="Right-sizes cloud block storage on what its workload really asks for.",
    epilog="Exit codes: 0 done, 2 unusable input, 3 done in part (something could not be read), 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(commands.audit)
app.command()(commands.explain)
app.command()(commands.validate)
app.command()(commands.sweep)
app.command()(commands.stripes)
app.command()(commands.report)
app.command()(commands.query)
app.command()(commands.diff)
app.command()(commands.demo)
app.command()(commands.simulate)
app.command()(commands.benchmark)
app.command()(commands.schema)
app.add_typer(commands.chart, name="chart")
app.add_typer(commands.envelopes, name="envelopes")


def main() -> None:
    """Runs the command line; every error that people can act on is one sentence on standard error."""
    try:
        app()
    except BadInput as error:
        _say(error)
        sys.exit(UNUSABLE)
    except PlimsollError as error:
        _say(error)
        sys.exit(PARTIAL)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _say(error: PlimsollError) -> None:
    Console(stderr=True, highlight=False).print(f"plimsoll: {error}", style="red", markup=False, soft_wrap=True)
