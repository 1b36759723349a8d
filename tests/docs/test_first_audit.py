"""What a newcomer is shown of a first audit is what that audit prints."""

import re
from datetime import UTC, datetime

from cloud_simulator.running import running
from tests.docs.written import ROOT
from tests.pipelines.commands import plimsoll

SIMULATED = re.compile(r"`plimsoll simulate --volumes (\d+)`")


def test_the_figures_of_a_first_audit_are_printed(tmp_path):
    page = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (volumes,) = SIMULATED.findall(page)
    with running(datetime.now(UTC), volumes=int(volumes)) as organization:
        done = plimsoll(organization, tmp_path, "audit", "--region", "eu-west-1", COLUMNS="160")
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    for line in filter(None, shown.splitlines()):
        assert any(one.startswith(line.removesuffix("...")) for one in printed), f"{line}\n{done.stdout}"
