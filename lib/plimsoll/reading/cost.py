"""The cost of reading metrics: prices and quotas, amounts of reading, and what is expected of an audit."""

from dataclasses import dataclass
from typing import Final

from plimsoll.model.units import HOUR_S

DECIDING_S: Final = 0.008
"""Seconds of one core that deciding on a volume took on the simulated organization of 600 (benchmarks/speed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closer:
    """The expected cost of looking closer: datapoints as a share of those of every minute, queries as a multiple of
    those of the first look, and how many of them share a call."""

    datapoints: float
    queries: float
    queries_a_call: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCost:
    """Price and quotas of metrics: USD for a query (one series in one call), calls and datapoints a second.

    `usd_hour_waited` is what an hour of an audit is worth; it turns quotas into money, so that both can be added.
    `calls_scarce`: calls, not datapoints, are what an audit waits for, so that a query takes its share of one.
    """

    usd_query: float
    calls_per_s: float
    datapoints_per_s: float
    usd_hour_waited: float
    closer: Closer
    calls_scarce: bool = False

    @property
    def datapoints_a_query(self) -> float:
        """The datapoints that are worth one query."""
        if not self.usd_hour_waited:
            return float("inf")
        paid = self.usd_query / (self.usd_hour_waited / HOUR_S) * self.datapoints_per_s
        return paid + self.datapoints_a_call / self.closer.queries_a_call if self.calls_scarce else paid

    @property
    def datapoints_a_call(self) -> float:
        """The datapoints that are worth one call: those that the quotas let through meanwhile."""
        return self.datapoints_per_s / self.calls_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An amount of reading: queries (one series in one call), calls and datapoints."""

    queries: int = 0
    calls: int = 0
    datapoints: int = 0

    def __add__(self, other: "Reading") -> "Reading":
        return Reading(
            queries=self.queries + other.queries,
            calls=self.calls + other.calls,
            datapoints=self.datapoints + other.datapoints,
        )

    def usd(self, query_cost: QueryCost) -> float:
        """The price of the queries."""
        return self.queries * query_cost.usd_query

    def seconds(self, query_cost: QueryCost) -> float:
        """The seconds that it takes within the quotas."""
        return max(self.datapoints / query_cost.datapoints_per_s, self.calls / query_cost.calls_per_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The expected reading for a number of volumes. `least` reads each once and coarsely, `most` reads every bucket."""

    volumes: int = 0
    least: Reading = Reading()
    expected: Reading = Reading()
    most: Reading = Reading()

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(
            volumes=self.volumes + other.volumes,
            least=self.least + other.least,
            expected=self.expected + other.expected,
            most=self.most + other.most,
        )

    def seconds(self, query_cost: QueryCost) -> float:
        """The longer of the expected reading and the deciding, which overlap."""
        return max(self.expected.seconds(query_cost), self.volumes * DECIDING_S)
