"""`plimsoll envelopes`: what was measured, by whom, and what it says."""

import typer

app = typer.Typer(help="Measured envelopes: list, show, compare.", no_args_is_help=True)


@app.command(name="list")
def list_() -> None:
    """List every measured envelope."""
