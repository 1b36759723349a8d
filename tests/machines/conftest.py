"""The service as it is synthesised, once for all tests."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from .account import HOME, REGION
from .templates import Templates

SLACK = {
    "PLIMSOLL_DEPLOY_SLACK__TEAMS": "T0123ABCDEF",
    "PLIMSOLL_DEPLOY_SLACK__CHANNEL": "C0123ABCDEF",
    "PLIMSOLL_DEPLOY_SLACK__USER_GROUPS": "S0123ABCDEF",
}


@pytest.fixture(scope="session")
def templates(tmp_path_factory):
    """The templates of an ordinary deployment, whose functions' code is left out."""
    return synthesised(tmp_path_factory.mktemp("assembly"), {})


@pytest.fixture(scope="session")
def slack_templates(tmp_path_factory):
    """Those of a deployment that tells Slack; the configuration in force is what a test deploys them with."""
    return synthesised(tmp_path_factory.mktemp("assembly-with-slack"), SLACK)


def synthesised(out: Path, settings: Mapping[str, str]) -> Templates:
    environment = {**os.environ, "CDK_OUTDIR": str(out), "PLIMSOLL_DEPLOY_ASSETS": "empty", **settings}
    subprocess.run([sys.executable, "-m", "infra.app"], env=environment, check=True, capture_output=True)
    return Templates.read(out, account=HOME, region=REGION)
