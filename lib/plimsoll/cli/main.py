"""The command line: one command per capability, and the exit codes that scripts rely on.

Exit codes: 0 done; 1 a fault in Plimsoll itself; 2 what was given cannot be used; 3 done in part: something could not
be read, and run.json and the screen say what; 130 interrupted, with everything answered so far on disk.
"""

import sys

import typer
from rich.console import Console

from plimsoll.cli import audit, demo, envelopes, explain, schema, simulate
from plimsoll.cli.audit import INTERRUPTED, PARTIAL
from plimsoll.domain.errors import BadInput, PlimsollError

UNUSABLE = 2

app = typer.Typer(
    help="Right-sizes cloud block storage on what its workload really asks for.",
    epilog="Exit codes: 0 done, 2 unusable input, 3 done in part (something could not be read), 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command(name="audit")(audit.audit)
app.command(name="explain")(explain.explain)
app.command(name="demo")(demo.demo)
app.command(name="simulate")(simulate.simulate)
app.command(name="schema")(schema.schema)
app.add_typer(envelopes.app, name="envelopes")


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
