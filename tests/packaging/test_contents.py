"""Which distributions the zip of each function is to hold, before anything is built."""

import pytest

from infra.packaging.contents import distributions
from tests.packaging.conftest import FUNCTIONS

GOOGLE = {"plan", "take_inventory", "audit_batch", "slack_work"}


@pytest.mark.parametrize(
    ("distribution", "users"),
    [
        ("duckdb", {"combine"}),
        ("google-cloud-monitoring", GOOGLE),
        ("grpcio", GOOGLE),
        ("rich", set()),
        ("vl-convert-python", {"slack_report"}),
    ],
)
def test_what_is_large_is_for_those_alone_who_use_it(distribution: str, users: set[str]) -> None:
    held = {name: {one.partition("==")[0] for one in distributions(name)} for name in FUNCTIONS}
    assert {name for name, names in held.items() if distribution in names} == users


def test_what_slack_waits_for_decides_nothing() -> None:
    names = {one.partition("==")[0] for one in distributions("slack_act")}
    assert {"boto3", "slack-sdk"} <= names
    assert not names & {"numpy", "duckdb", "jinja2", "rich"}
