"""How many examples a property is given: at most 25 on a push, all of them before a release.

`PLIMSOLL_TESTS_PROFILE` names one: `quick` while one writes, `push` (what `make test` runs), `all` (`make test-all`).
"""

import os
from typing import Final

from hypothesis import settings

PROFILE: Final = os.environ.get("PLIMSOLL_TESTS_PROFILE", "push")
SHARES: Final = {"quick": 0.1, "push": 0.25, "all": 1.0}
"""The share of a property's examples that each profile runs."""
MOST: Final = {"quick": 10, "push": 25}
"""No property has more examples than these there."""
USUAL: Final = 100
"""The examples of a property that names no number."""


def examples(in_all: int) -> int:
    """How many of a property's examples this profile runs; `in_all` before a release."""
    return max(5, min(round(in_all * SHARES[PROFILE]), MOST.get(PROFILE, in_all)))


def load() -> None:
    """Makes this run's profile hypothesis's own. It measures no time: these machines are shared and noisy.

    Only `all` draws new examples in each run: a push fails for what it changed, not for what it happened to draw.
    """
    settings.register_profile(PROFILE, deadline=None, max_examples=examples(USUAL), derandomize=PROFILE != "all")
    settings.load_profile(PROFILE)
