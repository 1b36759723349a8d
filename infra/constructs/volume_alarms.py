"""Chosen volumes: their demand in IOPS and MiB/s, by the formulas of the audit, for alarms and for graphs."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.constructs.alarms import Alarms
from plimsoll.clouds.aws.graph_link import iops_expression, throughput_expression
from plimsoll.clouds.aws.queries import COUNTERS, NAMESPACE
from plimsoll.model.units import MINUTE_S

_MINUTES: Final = 15
"""Minutes in a row with demand at the threshold that are an alarm. Bursts and queues absorb shorter ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedVolume:
    """A volume and what it carries."""

    volume_id: str
    iops: float
    throughput_mib_s: float

    @classmethod
    def parse(cls, text: str) -> "WatchedVolume":
        """A volume from ID:IOPS:MIB_S, as the settings have it."""
        volume_id, iops, throughput_mib_s = text.split(":")
        return cls(volume_id=volume_id, iops=float(iops), throughput_mib_s=float(throughput_mib_s))

    @property
    def iops_demand(self) -> cloudwatch.MathExpression:
        """Its IOPS, minute by minute."""
        return self._rate(iops_expression("read_ops", "write_ops"), ("read_ops", "write_ops"), "IOPS")

    @property
    def throughput_demand(self) -> cloudwatch.MathExpression:
        """Its MiB/s, minute by minute."""
        expression = throughput_expression("read_bytes", "write_bytes")
        return self._rate(expression, ("read_bytes", "write_bytes"), "MiB/s")

    def _rate(self, expression: str, series: tuple[str, ...], unit: str) -> cloudwatch.MathExpression:
        sums = {
            name: cloudwatch.Metric(
                namespace=NAMESPACE,
                metric_name=COUNTERS[name],
                dimensions_map={"VolumeId": self.volume_id},
                statistic="Sum",
                period=Duration.seconds(MINUTE_S),
            )
            for name in series
        }
        return cloudwatch.MathExpression(
            expression=expression,
            using_metrics=sums,
            label=f"{self.volume_id} {unit}",
            period=Duration.seconds(MINUTE_S),
        )


def watch(alarms: Alarms, volume: WatchedVolume, *, share_pct: float) -> None:
    """Alarms for demand that stays at a share of what the volume carries."""
    near = f"{volume.volume_id} has been asked for {share_pct:g} % of what it carries for {_MINUTES} minutes:"
    advice = "see `plimsoll explain` what it needs."
    alarms.when(
        f"{volume.volume_id}-iops",
        volume.iops_demand,
        reaches=volume.iops * share_pct / 100,
        says=f"{near} {volume.iops:,.0f} IOPS; {advice}",
        periods=_MINUTES,
    )
    alarms.when(
        f"{volume.volume_id}-throughput",
        volume.throughput_demand,
        reaches=volume.throughput_mib_s * share_pct / 100,
        says=f"{near} {volume.throughput_mib_s:,.0f} MiB/s; {advice}",
        periods=_MINUTES,
    )
