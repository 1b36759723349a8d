"""What all tests share.

- A profile says how many examples a property has (`tests/profiles.py`).
- A test that needs something of the machine (`pytest.mark.needs("fio", "root")`) says why where it cannot run.
- Such tests, and those of whole machines and commands, are marked `waits`: more of them run at once.
- A test marked `release` runs in the profile `all` alone, which is `make test-all`.
- The models of AWS's services are read once, and simulators are forked.
- What is collected stays to the end, so that no collection of garbage looks at it.
- What tests start ends by Ctrl-C and by a hangup, even where they run in the background, which ignores them.
"""

import gc
import os
import signal
import sys
from functools import cache
from pathlib import Path
from typing import Final

import botocore.loaders
import botocore.session
import pytest

from tests import profiles
from tests.needs import MUST_RUN, missing
from tests.simulators import fork_from_now_on

pytest.register_assert_rewrite("tests.golden")
profiles.load()
gc.disable()
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)  # unlike SIG_IGN, this is not inherited

WAIT_HERE: Final = frozenset(Path(__file__).with_name(name) for name in ("faults", "machines", "pipelines"))
"""The folders of tests that start whole machines and commands, and wait for them."""

_SHARED: Final = cache(botocore.loaders.create_loader)


def _shared_loader(search_path_string: str | None = None) -> botocore.loaders.Loader:
    """One loader for the sessions of all tests: every session would read 0.3 s for its first client of EC2 alone."""
    found = _SHARED(search_path_string)
    found.search_paths[:] = dict.fromkeys(found.search_paths)  # every session of boto3 adds its own
    return found


botocore.session.create_loader = _shared_loader


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("needs") or _waits(item.path):
        item.add_marker("waits")


@cache
def _waits(path: Path) -> bool:
    return not WAIT_HERE.isdisjoint(path.parents)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if profiles.PROFILE != "all":
        later = [item for item in items if item.get_closest_marker("release")]
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if not item.get_closest_marker("release")]


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
    if "cloud_simulator.running" in sys.modules:
        fork_from_now_on(sys.modules["cloud_simulator.running"])


def pytest_unconfigure() -> None:
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    reasons = [reason for mark in item.iter_markers("needs") for reason in missing(mark.args)]
    if reasons and os.environ.get(MUST_RUN):
        pytest.fail(f"must run here: {'; '.join(reasons)}", pytrace=False)
    if reasons:
        pytest.skip("; ".join(reasons))
