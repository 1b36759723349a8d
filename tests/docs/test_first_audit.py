"""What a newcomer is shown of a first audit is what that audit prints."""

import re
from datetime import UTC, datetime

from cloud_simulator.running import running
from tests.docs.written import ROOT
from tests.pipelines.commands import plimsoll

SIMULATED = re.compile(r"`plimsoll simulate --volumes (\d+)`")
ON = datetime(2026, 11, 25, 12, tzinfo=UTC)
"""The day that the figures are of: on some others a volume has another trend, and the page is a dollar off."""


def test_the_figures_of_a_first_audit_are_printed(tmp_path):
    page = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (volumes,) = SIMULATED.findall(page)
    with running(ON, volumes=int(volumes)) as organization:
        told = {**organization.clock_environment, "COLUMNS": "160"}
        done = plimsoll(organization, tmp_path, "audit", "--region", "eu-west-1", **told)
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    for line in filter(None, shown.splitlines()):
        assert any(one.startswith(line.removesuffix("...")) for one in printed), f"{line}\n{done.stdout}"
