"""`plimsoll bench-agent`: the startup script of bench VMs."""

from plimsoll.bench.agent import agent_script
from plimsoll.cli.standard_output import put_out


def print_agent() -> None:
    """Prints the script."""
    put_out([agent_script()])
