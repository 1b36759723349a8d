"""Failing tests: `-p tests.mutants.found`, a plugin of pytest, adds the name of every test that fails to a file.

The file is that of `FOUND_IN`. An example that fails a property is not made smaller: one is enough here, and smaller
ones cost minutes.
"""

import os
from pathlib import Path
from typing import Final

import pytest
from hypothesis import Phase, settings

from tests.profiles import PROFILE

FOUND_IN: Final = "PLIMSOLL_MUTANT_FOUND_IN"


def pytest_collection() -> None:
    settings.register_profile("mutants", settings.get_profile(PROFILE), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _note(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _note(report.nodeid)


def _note(name: str) -> None:
    with Path(os.environ[FOUND_IN]).open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
