"""Whether a record says what was written down."""

from typing import Any

import pytest

from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import step_of
from tests.scenes.scene import Right


def check(record: dict[str, Any], right: Right, why: str) -> None:
    """Fails, with the reason of the scene, where a record says anything else."""
    assert record["action"] in right.action, (why, record["reasons"])
    if right.target is not None:
        assert figures(record["target"]) == right.target, (why, record["reasons"])
    if right.saved is not None:
        assert record["monthly_usd_saved"] == pytest.approx(right.saved, abs=0.011), why
    if right.waits_until is not None:
        assert record["wait"]["until"] == right.waits_until, (why, record["wait"])
    if right.blocked is not None:
        assert bool(record["blockers"]) == right.blocked, (why, record["blockers"])
    if right.relief is not None:
        assert record["relief"] is not None, why
        assert figures(record["relief"]["spec"]) == right.relief, why
    if right.full is not None:
        assert record["full_limits"] is not None, why
        assert figures(record["full_limits"]["spec"]) == right.full, why
    if right.too_risky is not None:
        assert record["too_risky"] is not None, (why, record["reasons"])
        assert figures(record["too_risky"]["spec"]) == right.too_risky, why
        allowed_pct, promised_pct = (record["too_risky"]["risk"][name] for name in ("allowed_pct", "promised_pct"))
        assert promised_pct is None or promised_pct > allowed_pct, why
    for budget, usd in right.frontier.items():
        step = max(
            (one for one in record["frontier"] if one["budget_min"] <= budget), key=lambda one: one["budget_min"]
        )
        more = 0.05 * usd if step["at_most"] else 0.011
        assert usd - 0.011 <= step["monthly_usd"] <= usd + more, (why, step)
    if right.step is not None:
        assert step_of(RecommendationRecord.model_validate(record)) == right.step, (why, record["risk"])
    if right.losses is not None:
        assert tuple(loss["code"] for loss in record["losses"]) == right.losses, (why, record["losses"])
    assert set(right.codes) <= set(record["reason_codes"]), (why, record["reason_codes"])
    assert not set(right.without) & set(record["reason_codes"]), (why, record["reason_codes"])
    assert len(record["reason_codes"]) == len(record["reasons"])
    if right.says is not None:
        assert right.says in " ".join(record["reasons"]).lower(), (why, record["reasons"])


def figures(spec: dict[str, Any]) -> tuple[Any, ...]:
    """A spec as the tables write it."""
    return tuple(spec[name] for name in ("type", "size_gib", "iops", "throughput_mib_s"))
