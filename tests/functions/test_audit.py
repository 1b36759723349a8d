"""The functions of the audit, over AWS's own services as the simulated organization has them, by their environment."""

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from cloud_simulator.aws.organization import ACCOUNTS
from functions import (
    audit_batch,
    combine,
    entry_point,
    find_pending,
    note_failure,
    plan,
    report,
    summarize,
    take_inventory,
)
from plimsoll.model.errors import BadInput, OutOfTime
from tests.contract.service_ports import home_account
from tests.functions.calls import Context, ask

pytestmark = pytest.mark.once

NOW = datetime.now(UTC)
CONFIG = {"accounts": ACCOUNTS[:2], "regions": ["us-east-1"], "policy": {"lookback_days": 2}}


@pytest.fixture(scope="module")
def account():
    with home_account() as found:
        yield found


@pytest.fixture
def deployed(account):
    """What the infrastructure gives the functions: their environment, and what it names."""
    bus, queue = account.bus()
    name = f"/plimsoll/{bus}"
    account.client("ssm").put_parameter(Name=name, Value=json.dumps(CONFIG), Type="String")
    machine = account.machine()
    given = {
        "PLIMSOLL_BUCKET": account.bucket(),
        "PLIMSOLL_CONFIG_PARAMETER": name,
        "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
        "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
        "PLIMSOLL_EVENT_BUS": bus,
        "PLIMSOLL_CALLS_PER_S": "1e9",
        "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
        "PLIMSOLL_USD_HOUR_WAITED": "250000",
    }
    with patch.dict(os.environ, {**account.organization.environment, **given}):
        entry_point.renew()
        yield {**given, "queue": queue, "machine": machine}
    entry_point.renew()


@dataclass(frozen=True, kw_only=True)
class Ending(Context):
    """A call whose time is over as soon as it was begun."""

    asked: list[int] = field(default_factory=list)

    def get_remaining_time_in_millis(self):
        self.asked.append(1)
        return 60_000 if len(self.asked) == 1 else 11_000


def begin(account, deployed, name="first", **given):
    execution = account.start(deployed["machine"], name)
    return {"execution": execution, "name": name, "started": NOW.isoformat(), "input": given}


def items(account, deployed, key):
    return json.loads(account.client("s3").get_object(Bucket=deployed["PLIMSOLL_BUCKET"], Key=key)["Body"].read())


def carry_out(account, deployed, planned):
    run = {"run_id": planned["run_id"]}
    for item in items(account, deployed, planned["accounts_key"]):
        assert ask(take_inventory, {**run, "account": item}) == {"left": 0}
    pending = ask(find_pending, {**run, "execution": "x"})
    for lot in items(account, deployed, pending["pending_key"]):
        assert ask(audit_batch, {**run, "lot": lot}) == {"left": 0}
    found = ask(find_pending, {**run, "execution": "x"})
    assert found["pending"] == 0
    for shard in items(account, deployed, found["shards_key"]):
        assert ask(combine, {**run, "shard": shard}) == {}
    ask(summarize, run)
    return ask(report, run)


def test_the_functions_keep_count_and_tell_everybody_once(account, deployed, capsys):
    planned = ask(plan, begin(account, deployed))
    assert (planned["state"], planned["accounts"]) == ("go", 2)
    reported = carry_out(account, deployed, planned)
    place = f"s3://{deployed['PLIMSOLL_BUCKET']}/reports/first"
    assert reported["report"] == f"{place}/report.html"
    found = items(account, deployed, "reports/first/recommendations.json")
    assert 0 < len({one["volume_id"] for one in found}) <= reported["volumes"]
    logged = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    counted = {name for line in logged if "_aws" in line for name in line}
    assert {
        "volumes",
        "datapoints",
        "savings_usd",
        "failures",
        "failed_targets",
        "audit_usd",
        "expected_usd",
        "scope_covered_pct",
    } <= counted
    once = account.heard(deployed["queue"])
    assert [kind for kind, _ in once].count("AuditCompleted") == 1
    assert len({detail["volume_id"] for kind, detail in once if kind == "RecommendationNew"}) == len(once) - 1
    ask(report, {"run_id": "first"})
    assert account.heard(deployed["queue"]) == []


def test_a_second_audit_waits_for_the_first(account, deployed):
    begin(account, deployed)
    planned = ask(plan, begin(account, deployed, "second"))
    assert (planned["state"], planned["busy_with"]) == ("wait", "first")


def test_a_function_that_has_no_time_for_anything_fails_by_name(account, deployed):
    planned = ask(plan, begin(account, deployed))
    for item in items(account, deployed, planned["accounts_key"]):
        ask(take_inventory, {"run_id": "first", "account": item})
    lot = items(account, deployed, ask(find_pending, {"run_id": "first", "execution": "x"})["pending_key"])[0]
    with pytest.raises(OutOfTime, match="give it a longer limit"):
        ask(audit_batch, {"run_id": "first", "lot": lot}, Ending())


def test_an_event_that_is_none_is_refused_with_the_key_that_is_wrong(deployed):
    with pytest.raises(BadInput, match=r"account\.account is 'mine': string should match"):
        ask(take_inventory, {"run_id": "first", "account": {"account": "mine"}})


def test_a_failure_is_noted_from_what_step_functions_passes_on(account, deployed):
    planned = ask(plan, begin(account, deployed))
    item = items(account, deployed, planned["accounts_key"])[0]
    error = {"Error": "Throttled", "Cause": json.dumps({"errorMessage": "too fast", "errorType": "Throttled"})}
    assert ask(note_failure, {"run_id": "first", "account": item, "error": error}) == {}
    summarized = ask(summarize, {"run_id": "first"})
    assert summarized == {"run_id": "first", "status": "partial"}


def test_without_its_configuration_a_function_says_what_is_missing(deployed):
    with patch.dict(os.environ, {"PLIMSOLL_CONFIG_PARAMETER": "/plimsoll/nothing"}):
        entry_point.renew()
        with pytest.raises(BadInput, match="/plimsoll/nothing"):
            ask(summarize, {"run_id": "first"})
