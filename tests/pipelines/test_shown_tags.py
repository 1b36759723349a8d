"""Of a volume's tags those alone that the policy shows leave the decision, whatever is asked for and however."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.explain import explain_volume
from plimsoll.clouds.ledger import Ledger
from plimsoll.outcomes import Answered
from plimsoll.policy_file import parse_policy
from plimsoll.ports import Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER
from tests.builders import LONG_AGO, NOW, a_volume
from tests.unit.service.places import ACCOUNT, DAYS, places_of, volumes

SECRET = "hunter2-&<>`=cmd"
TAGS = {"Name": "orders", "team": "payments", "note": SECRET, "tier": SECRET}
OVERRIDES = [{"tag": "tier", "policy": {"min_saving_usd_month": 5}}]


@pytest.fixture
def ports(tmp_path):
    detached = a_volume(
        "gp2", on=[], id="vol-detached", account=ACCOUNT, tags=TAGS, created=LONG_AGO - timedelta(days=1)
    )
    given = [replace(volume, tags=TAGS) for volume in volumes(2)]
    ledger = Ledger.at(Path(tmp_path) / "ledger.json")
    target = Target(account=ACCOUNT, region="us-east-1")
    return places_of([*given, detached]).ports(target, now=NOW, measured=tmp_path, ledger=ledger)


def a_policy(**keys):
    return parse_policy({"lookback_days": DAYS, "overrides": OVERRIDES, **keys})


def answered(ports, policy):
    return [one for one in run_audit(ports, policy, NOW) if isinstance(one, Answered)]


def test_without_a_word_of_the_policy_the_name_and_the_team_alone_are_shown(ports):
    found = answered(ports, a_policy())
    assert {one.recommendation.action for one in found} == {"migrate", "detached"}
    for one in found:
        record = record_of(one.recommendation, one.change, provider=FIRST_PROVIDER)
        assert (record.name, record.tags) == ("orders", {"team": "payments"})
        assert SECRET not in repr(one)


def test_tags_that_the_policy_shows_are_in_the_record(ports):
    for one in answered(ports, a_policy(show_tags=["Name", "team", "missing"])):
        record = record_of(one.recommendation, provider=FIRST_PROVIDER)
        assert (record.name, record.tags) == ("orders", {"team": "payments"})
        assert SECRET not in repr(one)


def test_a_name_that_is_not_shown_is_in_no_record(ports):
    for one in answered(ports, a_policy(show_tags=[])):
        record = record_of(one.recommendation, provider=FIRST_PROVIDER)
        assert (record.name, record.tags) == (None, {})
        assert "orders" not in repr(one)


def test_the_explanation_of_one_volume_keeps_to_it_as_well(ports):
    for volume_id in ("vol-us-east-1-000", "vol-detached"):
        outcome = explain_volume(ports, volume_id, a_policy(show_tags=["team"]), NOW).outcome
        assert record_of(outcome.recommendation, provider=FIRST_PROVIDER).tags == {"team": "payments"}
        assert SECRET not in repr(outcome)


def test_what_is_decided_does_not_depend_on_what_is_shown(ports):
    hidden, shown = (
        [
            record_of(one.recommendation, one.change, provider=FIRST_PROVIDER)
            for one in answered(ports, a_policy(show_tags=keys))
        ]
        for keys in ([], list(TAGS))
    )
    assert [one.model_copy(update={"name": "orders", "tags": {}}) for one in hidden] == [
        one.model_copy(update={"tags": {}}) for one in shown
    ]
