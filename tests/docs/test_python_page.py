"""docs/python.md: every block runs, in its order, and prints what the page shows."""

import contextlib
import io
import re
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running
from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def cells(page):
    """The blocks of Python in a page, each with the output that the page shows below it, None where it shows none."""
    return [
        (code, shown or None)
        for code, shown in re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", page, re.DOTALL)
    ]


def run_cells(page):
    names = {}
    for code, shown in cells(page):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "<the page>", "exec"), names)
        if shown is not None:
            assert printed.getvalue() == shown
    return names


@pytest.fixture
def account(tmp_path, monkeypatch):
    """The profile `production` of a simulated account, and a folder to work in."""
    with running(datetime.now(UTC), volumes=1) as organization:
        config = tmp_path / "config"
        key = organization.environment["AWS_ACCESS_KEY_ID"]
        config.write_text(f"[profile production]\naws_access_key_id = {key}\naws_secret_access_key = simulated\n")
        for name in ("AWS_PROFILE", "PLIMSOLL_RUNS_DIR"):
            monkeypatch.delenv(name, raising=False)
        fast = {"PLIMSOLL_DATAPOINTS_PER_S": "1e9", "PLIMSOLL_CALLS_PER_S": "1e9", "AWS_CONFIG_FILE": str(config)}
        for name, value in {**organization.environment, **fast}.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
        monkeypatch.chdir(tmp_path)
        yield organization


def test_every_block_of_the_page_runs_and_prints_what_it_shows(account):
    assert len([shown for _, shown in cells(PAGE) if shown]) == 3
    names = run_cells(PAGE)
    assert names["run"].summary["volumes"]["answered"] > 1
    assert names["best"].monthly_usd_saved > 0
