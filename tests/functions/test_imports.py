"""Each function imports what it needs and nothing else: what is heavy begins with those alone that use it."""

import subprocess
import sys

import pytest

NEVER = (
    "moto",
    "typer",
    "cloud_simulator",
    "plimsoll.cli",
    "plimsoll_service.cli",
    "google.auth",
    "google.cloud",
    "grpc",
    "aws_xray_sdk",
    "aws_lambda_powertools.utilities.parser",
    "plimsoll.clouds.recorder",
    "plimsoll_measure.local_files",
    "plimsoll.bootstrap.recordings",
)
"""Google's libraries are imported when a project is asked for, and before that by no function. No function imports what
only a command needs, nor what would cost a start more than all that it does."""
DECIDING = ("plimsoll.auditing.audit", "plimsoll.refine.judge", "plimsoll.clouds.aws.connection")
UNDECIDING = ("canary", "combine", "find_pending", "note_failure", "report", "slack_answer", "summarize")
MEASURING = ("plimsoll_measure.validation.job", "plimsoll_measure.validation.context")
UNMEASURING = ("plan", "take_inventory", "audit_batch", *(name for name in UNDECIDING if name != "slack_answer"))
"""Functions that decide on no volume import nothing that would, and those of an audit nothing that measures."""
STEPPING = ("attach_scratch", "check_job", "clean_up", "create_scratch", "send_command", "sweep", "plan_sweep")
"""The steps of a validation between the decisions before and after."""
ARRAYS = ("numpy", "plimsoll.reports.totals")
LOOKING = ("canary",)
"""It reads two documents."""
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
TELLING = ("slack_report", "slack_answer", "slack_changes")

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
    assert_imports_none_of(refused, asked)


@pytest.mark.parametrize(
    ("refused", "asked"), [(DECIDING, UNDECIDING), (DECIDING, STEPPING), (MEASURING, UNMEASURING), (ARRAYS, LOOKING)]
)
def test_a_function_imports_no_other_functions_work(refused, asked):
    assert_imports_none_of(refused, asked)


def assert_imports_none_of(refused, asked):
    command = [sys.executable, "-c", ASKED, ",".join(refused), *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
