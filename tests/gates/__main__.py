"""`python -m tests.gates` prints each gate with its figure. `--write` keeps today's; a name prints that gate's list."""

import sys

from tests.gates.figures import GATES, read_figures, write_figures


def main(words: list[str]) -> None:
    """Prints figures or lists, or writes the figures."""
    if words == ["--write"]:
        write_figures()
        return
    sys.stdout.writelines(f"{line}\n" for gate in GATES if gate.name in words for line in gate.found())
    if not words:
        figures = read_figures()
        sys.stdout.writelines(
            f"{gate.name:22} {len(gate.found()):6,} (at most {figures[gate.name]:,}): {gate.counts}\n" for gate in GATES
        )


main(sys.argv[1:])
