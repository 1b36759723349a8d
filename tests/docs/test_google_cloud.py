"""What the pages on Google Cloud say is so: the table has what audits use, and the provider trusts nobody else."""

import re
from pathlib import Path

from plimsoll_google import permissions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "google-cloud.md").read_text(encoding="utf-8")
KEYLESS = (ROOT / "infra" / "google.md").read_text(encoding="utf-8")


def test_every_permission_of_an_audit_stands_in_the_table():
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    asked = permissions.GOOGLE_AUDIT | permissions.BELOW | permissions.NUMBERED
    assert {permission for permission in asked if f"`{permission}`" not in rows} == set()
    assert {api for api in permissions.APIS if f"`{api}`" not in rows} == set()


def test_the_provider_trusts_the_roles_of_the_service_alone_and_grants_name_single_roles():
    (condition,) = re.findall(r'--attribute-condition "([^"]+)"', KEYLESS)
    assert condition == "assertion.arn.startsWith('arn:aws:sts::$aws:assumed-role/plimsoll-main-')"
    (member,) = re.findall(r'--member "(\$pool/[^"]+)"', KEYLESS)
    assert member == "$pool/attribute.aws_role/plimsoll-main-$function"


def test_the_functions_that_ask_google_are_those_of_the_service():
    (named,) = re.findall(r"for function in ([^;]+);", KEYLESS)
    functions = ROOT / "functions"
    assert {name for name in named.split() if not (functions / f"{name}.py").exists()} == set()
