"""The query_cost: what reading metrics costs, so that a finer look can be weighed against a coarser one."""

from dataclasses import dataclass

from plimsoll.domain.units import HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Closer:
    """What looking closer is expected to take: datapoints as a share of those of every minute, queries as a multiple of
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
        """How many datapoints more are worth one query less."""
        if not self.usd_hour_waited:
            return float("inf")
        paid = self.usd_query / (self.usd_hour_waited / HOUR_S) * self.datapoints_per_s
        return paid + self.datapoints_a_call / self.closer.queries_a_call if self.calls_scarce else paid

    @property
    def datapoints_a_call(self) -> float:
        """How many datapoints more are worth one call less: what the quotas let through meanwhile."""
        return self.datapoints_per_s / self.calls_per_s
