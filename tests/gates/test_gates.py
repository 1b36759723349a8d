"""No figure of the house goes up, and one that went down is written down."""

import pytest

from tests.gates.figures import GATES, read_figures


@pytest.mark.once
@pytest.mark.parametrize("gate", GATES, ids=[gate.name for gate in GATES])
def test_a_figure_of_the_house_only_goes_down(gate):
    found, most = gate.found(), read_figures()[gate.name]
    listed = "\n".join(found)
    assert len(found) <= most, f"{len(found)} {gate.counts}, and at most {most} may be:\n{listed}"
    assert len(found) == most, (
        f"{gate.counts}: {len(found)}, fewer than {most}: `python -m tests.gates --write` keeps it"
    )
