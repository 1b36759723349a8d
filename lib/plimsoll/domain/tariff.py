"""The tariff: what reading metrics costs, so that a finer look can be weighed against a coarser one."""

from dataclasses import dataclass

from plimsoll.domain.units import HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """Price and quotas of metrics: USD for a query (one series in one call), calls and datapoints a second.

    `usd_hour_waited` is what an hour of an audit is worth; it turns quotas into money, so that both can be added.
    """

    usd_query: float
    calls_per_s: float
    datapoints_per_s: float
    usd_hour_waited: float

    @property
    def datapoints_a_query(self) -> float:
        """How many datapoints more are worth one query less."""
        if not self.usd_hour_waited:
            return float("inf")
        return self.usd_query / (self.usd_hour_waited / HOUR_S) * self.datapoints_per_s

    @property
    def datapoints_a_call(self) -> float:
        """How many datapoints more are worth one call less: what the quotas let through meanwhile."""
        return self.datapoints_per_s / self.calls_per_s
