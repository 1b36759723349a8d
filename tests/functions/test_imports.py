"""Each function imports what it needs and nothing else: what is heavy begins with those alone that use it."""

import subprocess
import sys

import pytest

NEVER = ("moto", "typer", "plimsoll.simulator", "plimsoll.cli")
HEAVY = {
    "duckdb": {"audit_batch"},
    "altair": {"report", "slack_report"},
    "vl_convert": {"report", "slack_report"},
    "jinja2": {"report", "slack_report"},
}
AUDIT = ("plan", "take_inventory", "find_pending", "audit_batch", "note_failure", "summarize", "report")
VALIDATION = (
    "choose",
    "propose",
    "create_scratch",
    "look",
    "attach_scratch",
    "send_command",
    "clean_up",
    "conclude",
    "sweep",
)
TELLING = ("slack_report", "slack_answer")

pytestmark = pytest.mark.once


@pytest.mark.parametrize("name", [*AUDIT, *VALIDATION, *TELLING])
def test_a_function_imports_nothing_heavy_that_it_does_not_use(name):
    refused = [*NEVER, *(module for module, users in HEAVY.items() if name not in users)]
    asked = f"import sys, functions.{name}; print(*(set({refused!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
