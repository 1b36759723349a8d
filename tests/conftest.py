"""What all tests share: hypothesis measures no time, because these machines are shared and noisy, a test that needs
something of the machine (`pytest.mark.needs("fio", "root")`) says why where it cannot run, the models of AWS's
services are read once, and simulators are forked."""

import os
import sys
from functools import cache
from typing import Final

import botocore.loaders
import botocore.session
import pytest
from hypothesis import settings

from tests.needs import MUST_RUN, missing
from tests.simulators import fork_from_now_on

settings.register_profile("plimsoll", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile(os.environ.get("PLIMSOLL_TESTS_PROFILE", "plimsoll"))

_SHARED: Final = cache(botocore.loaders.create_loader)


def _shared_loader(search_path_string: str | None = None) -> botocore.loaders.Loader:
    """One loader for the sessions of all tests: every session would read 0.3 s for its first client of EC2 alone."""
    found = _SHARED(search_path_string)
    found.search_paths[:] = dict.fromkeys(found.search_paths)  # every session of boto3 adds its own
    return found


botocore.session.create_loader = _shared_loader


def pytest_collection_finish() -> None:
    if "cloud_simulator.running" in sys.modules:
        fork_from_now_on(sys.modules["cloud_simulator.running"])


def pytest_runtest_setup(item: pytest.Item) -> None:
    reasons = [reason for mark in item.iter_markers("needs") for reason in missing(mark.args)]
    if reasons and os.environ.get(MUST_RUN):
        pytest.fail(f"must run here: {'; '.join(reasons)}", pytrace=False)
    if reasons:
        pytest.skip("; ".join(reasons))
