"""The order of a run: what it is to do, and what run.json says of it."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from plimsoll.decide.history import RULE
from plimsoll.distribution import own_version
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.policy_file import dump_policy, parse_policy
from plimsoll.ports import Usage
from plimsoll.reading.cost import Plan, QueryCost
from plimsoll.reports.run_files import RUN
from plimsoll.reports.run_reader import read_begun
from plimsoll.reports.totals import RunTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order of a run: where to write, and with which scope, policy and time.

    `every_minute`: read them all, whether or not they can change an answer.
    """

    folder: Path
    scope: Mapping[str, Any]
    policy: Policy
    now: datetime
    every_minute: bool = False

    @property
    def id(self) -> str:
        """The run's name: that of its folder."""
        return self.folder.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudRequests:
    """The requests to a cloud, and the cost of asking there."""

    usage: Usage
    query_cost: QueryCost

    @property
    def usd(self) -> float:
        """The cost of the metrics."""
        return self.usage.metrics * self.query_cost.usd_query


def read_order(folder: Path) -> Order:
    """The order of a run that was begun before, with its own scope, policy and time; BadInput where it is none."""
    begun = read_begun(folder)
    try:
        policy = parse_policy(begun.policy)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{folder / RUN} does not say how the run was begun ({error}): begin a new one.") from error
    return Order(
        folder=folder,
        scope=begun.scope,
        policy=policy,
        now=datetime.fromisoformat(begun.now),
        every_minute=begun.every_minute,
    )


def end_status(totals: RunTotals) -> Literal["complete", "partial"]:
    """The status of a run that has come to its end."""
    return "partial" if totals.is_partial else "complete"


def describe(
    order: Order, totals: RunTotals, *, status: str, asked: Mapping[str, CloudRequests], seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The content of run.json; `asked` by cloud, `seconds` by stage, and those that passed as `elapsed`."""
    usages, summary = [requests.usage for requests in asked.values()], totals.summary()
    return {
        "id": order.id,
        "status": status,
        "now": order.now.isoformat(),
        "scope": dict(order.scope),
        "policy": dump_policy(order.policy),
        "every_minute": order.every_minute,
        "versions": versions(),
        "rule": RULE,
        **summary,
        "plan": plan_summary(totals.plans, {cloud: requests.query_cost for cloud, requests in asked.items()}),
        "usage": {
            "calls": sum(usage.calls for usage in usages),
            "metrics": sum(usage.metrics for usage in usages),
            "datapoints": sum(usage.datapoints for usage in usages),
            "estimated_usd": round(sum(requests.usd for requests in asked.values()), 4),
        },
        "clouds": {cloud: summary["clouds"].get(cloud, RunTotals().cloud_summary()) for cloud in asked},
        "seconds": {stage: round(taken_s, 3) for stage, taken_s in seconds.items()},
    }


def plan_summary(plans: Mapping[str, Plan], query_costs: Mapping[str, QueryCost]) -> dict[str, Any]:
    """Every cloud's plan together for run.json and the screen: the expected figures, and between which they can lie.

    Each is reckoned by its own cloud's query_cost; clouds are asked one after the other.
    """
    plan = sum(plans.values(), Plan())
    expected = plan.expected
    return {
        "volumes": plan.volumes,
        "calls": expected.calls,
        "metrics": expected.queries,
        "datapoints": expected.datapoints,
        "seconds": round(sum(cloud_plan.seconds(query_costs[cloud]) for cloud, cloud_plan in plans.items()), 1),
        "estimated_usd": round(
            sum(cloud_plan.expected.usd(query_costs[cloud]) for cloud, cloud_plan in plans.items()), 4
        ),
        "least_datapoints": plan.least.datapoints,
        "most_datapoints": plan.most.datapoints,
    }


def versions() -> dict[str, str]:
    """The versions that this run was made with."""
    return {
        "plimsoll": own_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "boto3": version("boto3"),
    }
