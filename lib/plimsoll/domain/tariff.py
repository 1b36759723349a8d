"""The tariff: what reading metrics costs, so that a finer look can be weighed against a coarser one."""

from dataclasses import dataclass

from plimsoll.domain.units import HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """Price and quotas of metrics: USD for a query (one series in one call), calls and datapoints a second.

    `usd_hour_waited` is what an hour of an audit is worth; it turns quotas into money, so that both can be added.
    Defaults: GetMetricData in us-east-1 ($0.01 for 1,000 metrics; 500 calls and 396,000 datapoints a second; Amazon
    CloudWatch pricing and service quotas, read 2026-11-20), and the hour of an engineer who waits.
    """

    usd_query: float = 1e-5
    calls_per_s: float = 500.0
    datapoints_per_s: float = 396_000.0
    usd_hour_waited: float = 100.0

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
