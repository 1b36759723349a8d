"""Each function imports what it needs and nothing else: what is heavy begins with those alone that use it."""

import subprocess
import sys

import pytest

NEVER = ("moto", "typer", "cloud_simulator", "plimsoll.cli", "google.auth", "google.cloud", "grpc")
"""Google's libraries are imported when a project is asked for, and before that by no function."""
HEAVY = {
    "duckdb": {"combine"},
    "altair": {"report", "slack_report"},
    "vl_convert": {"report", "slack_report"},
    "jinja2": {"report", "slack_report"},
}
AUDIT = (
    "plan",
    "take_inventory",
    "find_pending",
    "audit_batch",
    "note_failure",
    "combine",
    "summarize",
    "report",
    "canary",
)
VALIDATION = (
    "choose_volumes",
    "propose",
    "create_scratch",
    "check_job",
    "attach_scratch",
    "send_command",
    "clean_up",
    "conclude",
    "plan_sweep",
    "sweep",
    "conclude_sweep",
)
PROBE = ("begin_probe", "look_at_probe")
TELLING = ("slack_report", "slack_answer")

pytestmark = pytest.mark.once


ASKED = """
import sys
from importlib import import_module
refused = {*sys.argv[1].split(",")}
for name in sys.argv[2:]:
    import_module(f"functions.{name}")
    for module in refused & sys.modules.keys():
        sys.exit(f"{name} imports {module}")
"""


@pytest.mark.parametrize("users", [(), *sorted({tuple(sorted(users)) for users in HEAVY.values()})])
def test_a_function_imports_nothing_heavy_that_it_does_not_use(users):
    """Functions that may use the same are asked in one process, one after the other."""
    every = (*AUDIT, *VALIDATION, *PROBE, *TELLING)
    asked = users or [name for name in every if not any(name in some for some in HEAVY.values())]
    refused = [*NEVER, *(module for module, some in HEAVY.items() if not some.issuperset(asked))]
    command = [sys.executable, "-c", ASKED, ",".join(refused), *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
