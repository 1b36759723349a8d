"""The service as it is synthesised, once for all tests."""

import os
import subprocess
import sys

import pytest

from .account import HOME, REGION
from .templates import Templates


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """The templates of an ordinary deployment, whose functions' code is left out."""
    out = tmp_path_factory.mktemp("assembly")
    environment = {**os.environ, "CDK_OUTDIR": str(out), "PLIMSOLL_DEPLOY_ASSETS": "empty"}
    subprocess.run([sys.executable, "-m", "infra.app"], env=environment, check=True, capture_output=True)
    return Templates.read(out, account=HOME, region=REGION)
