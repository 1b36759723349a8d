"""What all tests share: hypothesis measures no time, because these machines are shared and noisy, and a test that needs
something of the machine (`pytest.mark.needs("fio", "root")`) says why where it cannot run."""

import os

import pytest
from hypothesis import settings

from tests.needs import MUST_RUN, missing

settings.register_profile("plimsoll", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile(os.environ.get("PLIMSOLL_TESTS_PROFILE", "plimsoll"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    reasons = [reason for mark in item.iter_markers("needs") for reason in missing(mark.args)]
    if reasons and os.environ.get(MUST_RUN):
        pytest.fail(f"must run here: {'; '.join(reasons)}", pytrace=False)
    if reasons:
        pytest.skip("; ".join(reasons))
