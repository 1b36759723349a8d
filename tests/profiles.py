"""How many examples a property is given: at most 10 on a push, all of them before a release.

`PLIMSOLL_TESTS_PROFILE` names one: `push` (what `make test` runs), `all` (`make test-all`), or `smoke` (one example, on
the other Python).
"""

import os
from typing import Final

from hypothesis import settings
from hypothesis.internal import constants_ast
from hypothesis.internal.conjecture import providers

PROFILE: Final = os.environ.get("PLIMSOLL_TESTS_PROFILE", "push")
ON_A_PUSH: Final = 0.1
"""The share of a property's examples that a push runs."""
MOST_ON_A_PUSH: Final = 10
USUAL: Final = 100
"""The examples of a property that names no number."""


def examples(in_all: int) -> int:
    """How many of a property's examples this profile runs; `in_all` before a release."""
    if PROFILE == "smoke":
        return 1
    return in_all if PROFILE == "all" else max(5, min(round(in_all * ON_A_PUSH), MOST_ON_A_PUSH))


def load() -> None:
    """Makes this run's profile hypothesis's own. It measures no time: these machines are shared and noisy.

    Only `all` draws new examples in each run, and constants of our code among them: a push fails for what it changed,
    not for what it happened to draw.
    """
    settings.register_profile(PROFILE, deadline=None, max_examples=examples(USUAL), derandomize=PROFILE != "all")
    settings.load_profile(PROFILE)
    if PROFILE != "all":
        # They are those of the modules a worker has loaded so far, which differ with the order of its tests.
        providers._get_local_constants = constants_ast.Constants
