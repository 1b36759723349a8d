"""Whatever can go wrong with a bench in memory, as a hypothesis strategy."""

from collections.abc import Sequence

from hypothesis import strategies as st

from plimsoll.model.errors import Throttled, Unreachable
from tests.in_memory.faults import Fault

ERRORS = st.sampled_from([None, Throttled("a fault."), Unreachable("a fault."), KeyboardInterrupt()])


def faults_of(steps: Sequence[str], *, most: int) -> st.SearchStrategy[list[Fault]]:
    """Lists of up to `most` faults of these steps: errors before and after they took effect, hangs, Ctrl-C, volumes
    that cannot be seen yet."""
    fault = st.builds(
        Fault,
        step=st.sampled_from(list(steps)),
        at=st.integers(0, 8),
        times=st.integers(1, 6),
        error=ERRORS,
        after=st.booleans(),
        hangs=st.booleans(),
        unseen=st.integers(0, 6),
    )
    return st.lists(fault, max_size=most)
