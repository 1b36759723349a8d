"""Runs as run.json has them, without a folder."""

from typing import Any

from plimsoll.model.policy import Policy
from plimsoll.policy_file import dump_policy
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.totals import RunTotals
from plimsoll.run import carry_out


def a_plain_run(totals: RunTotals | None = None, **changes: Any) -> dict[str, Any]:
    """The content of run.json; `changes` replace its keys."""
    return {
        "id": "20270115T080000Z",
        "status": "complete",
        "now": "2027-01-15T08:00:00+00:00",
        "scope": {},
        "policy": dump_policy(Policy()),
        **(totals or RunTotals()).summary(),
        "versions": {"plimsoll": "0.1.0"},
        "usage": {"calls": 1, "metrics": 4, "datapoints": 100, "estimated_usd": 0.01},
        "plan": {"most_datapoints": 1000},
        "seconds": {"elapsed": 1.0},
        **changes,
    }


def a_run_record(totals: RunTotals | None = None, **changes: Any) -> RunRecord:
    return RunRecord.model_validate(a_plain_run(totals, **changes))


def carry_out_plain(*arguments: Any, **options: Any) -> tuple[dict[str, Any], list[RecommendationRecord]]:
    """An audit, with the content of its run.json."""
    run, best = carry_out(*arguments, **options)
    return run.plain, best
