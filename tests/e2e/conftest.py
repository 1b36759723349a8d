"""These tests run by `make e2e` alone: they need the emulator's own environment, and minutes."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.emulator import Emulator, running_emulator
from tests.machines.conftest import templates

__all__ = ["emulator", "templates"]

collect_ignore_glob = [] if "PLIMSOLL_E2E_PYTHON" in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with running_emulator(Path(os.environ["PLIMSOLL_E2E_PYTHON"]), tmp_path_factory.mktemp("emulator")) as emulator:
        yield emulator
