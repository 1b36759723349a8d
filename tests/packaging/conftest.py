"""The zips of all functions, built once for Lambda and once for this machine's processor and Python."""

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from infra.packaging.contents import handlers
from infra.packaging.zips import Architecture, Target, zip_of

FUNCTIONS: Final = handlers()
HERE: Final[Mapping[str, Architecture]] = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}


@pytest.fixture(scope="session")
def lambda_zips() -> Mapping[str, Path]:
    return {name: zip_of(name) for name in FUNCTIONS}


@pytest.fixture(scope="session")
def native_zips() -> Mapping[str, Path]:
    python = "{}.{}".format(*sys.version_info)
    target = Target(architecture=HERE[platform.machine()], python=python)
    return {name: zip_of(name, target) for name in FUNCTIONS}
