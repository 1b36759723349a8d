"""Print the startup script that makes a VM of Google Cloud a bench host (docs/validation.md)."""

from typing import Final

from plimsoll.reports.printable import put_out

_LISTED: Final = ("Measure", 5)


def bench_agent_command() -> None:
    from plimsoll_measure.bench.agent import agent_script

    put_out([agent_script()])
