"""The demo's clouds with one call in twenty faulty: the recommendations are those of the undisturbed audit."""

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from .findings import findings_in
from .lab import DEMO, opened
from .refusals import REFUSED, broken, refused

pytestmark = [pytest.mark.once, pytest.mark.release]

SHARE = 0.05
PASSING = (
    "throttled",
    "error-500",
    "error-503",
    "reset-before",
    "reset-after",
    "cut",
    "torn",
    "cut-in-order",
    "html-200",
    "html-503",
    "empty-body",
    "garbage",
    "drip",
)
"""What goes over: the same call can go well the next time."""


@dataclass(slots=True)
class FaultyCalls:
    """Breaks a share of all calls in one way or another; a call that is tried again has a chance of its own."""

    struck: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    seen: Counter[str] = field(default_factory=Counter)

    def answer(self, asked, forward):
        self.calls += 1
        self.seen[asked.key] += 1
        chance = random.Random(f"{asked.key} {self.seen[asked.key]}")
        if chance.random() >= SHARE:
            return forward(asked)
        fault = chance.choice(PASSING)
        self.struck[fault] += 1
        return refused(asked, fault) if fault in REFUSED else broken(fault, forward(asked))


@pytest.fixture(scope="module")
def lab():
    with opened(demo=True) as found:
        yield found


@pytest.mark.parametrize("cloud", DEMO)
def test_one_faulty_call_in_twenty_changes_no_recommendation(lab, cloud):
    folder, faulty = lab.folder / f"faulty-{cloud}", FaultyCalls()
    expected = lab.expected(cloud).findings
    lab.audit(cloud, faulty, folder)
    found = findings_in(folder)
    assert faulty.struck.total() > 0.03 * faulty.calls
    assert found.unanswered.keys() == expected.unanswered.keys()
    assert found.records == expected.records
