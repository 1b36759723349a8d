"""How a run was made: when, by which policy, with whose prices, and what it cost to ask."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.reports.cloud_terms import calls_in, clouds_of
from plimsoll.reports.steps import judged_by
from plimsoll.reports.wording import count_of


def about(run: Mapping[str, Any], policy: Policy) -> Iterator[tuple[str, str]]:
    """Pairs of a word and a sentence."""
    yield "Audited", f"{audited_at(run):%Y-%m-%d %H:%M} UTC, run {run['id']}"
    yield "Policy", ". ".join(_policy(policy)) + "."
    yield "Prices", "; ".join(_prices(run["prices"])) or "none were read"
    yield "Asked", _asked(run)
    yield "Made by", f"Plimsoll {run['versions']['plimsoll']}"


def audited_at(run: Mapping[str, Any]) -> datetime:
    """The time, in UTC, that a run's figures are of."""
    return datetime.fromisoformat(run["now"]).astimezone(UTC)


def _policy(policy: Policy) -> Iterator[str]:
    yield f"An offer must carry {judged_by(policy)}"
    if policy.size_on is not SizeOn.AVERAGE:
        yield "A bucket's busiest second sizes it where the cloud publishes that"
    if policy.size_on is SizeOn.BUSY_TIME:
        yield "Elsewhere rates over the busy share of a bucket do"
    types = " or ".join(policy.target_types) or "of any type that its cloud's data mark as a target"
    yield f"It may be {types}, and must save ${policy.min_saving_usd_month:,.2f} a month"
    yield f"Measurements made here count as such for {policy.evidence_max_age_days} days"
    if policy.overrides:
        yield f"{count_of(len(policy.overrides), 'override')} by tag may say otherwise for some volumes"


def _prices(prices: Mapping[str, Mapping[str, str | None]]) -> Iterator[str]:
    places: dict[tuple[str | None, str | None], int] = {}
    for found in prices.values():
        key = (found["source"], found["as_of"])
        places[key] = places.get(key, 0) + 1
    for (source, as_of), count in places.items():
        yield f"{source}{f' as of {as_of}' if as_of else ''}, in {count_of(count, 'place')}"


def _asked(run: Mapping[str, Any]) -> str:
    usage, plan = run["usage"], run["plan"]
    part = usage["datapoints"] / plan["most_datapoints"] * 100 if plan["most_datapoints"] else 0.0
    share = f" ({part:.1f} % of every minute's)" if 0 < part < 100 else ""
    return (
        f"{usage['calls']:,} calls of {calls_in(clouds_of(run))}, {usage['datapoints']:,} datapoints{share}, "
        f"about ${usage['estimated_usd']:,.2f}; {run['seconds']['elapsed']:,.1f} seconds"
    )
