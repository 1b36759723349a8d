"""Costs of a run on AWS at list prices, and of a month of weekly runs: for 500, 5,000 and a million volumes.

What CloudWatch bills is measured on a simulated account of everyday volumes. The rest of a run is what `make scale`
found for its million, a volume's share of it; what is billed by the month is in infra/costs.md.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from figures import ROOT, Row
from measured_audit import audited

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running

SIZES: Final = (500, 5_000, 1_000_000)
MEASURED_VOLUMES: Final = 500
USD_METRIC: Final = 0.01 / 1e3
WEEKS_A_MONTH: Final = 52 / 12
METRICS: Final = "GetMetricData"

_SCALED: Final = re.compile(r"\| [^|]+ \| [\d,]+ \| ([\d,]+) \|(?=[^\n]*\n\n)")
_SHARES: Final = re.compile(r"Were they called for every volume \(arithmetic\), USD: (.+)\.\n")
_BY_THE_MONTH: Final = re.compile(r"^\| (?!a month)([^|]+) \| ([\d.,]+) \| [\d.]+ \| ([\d.]+) \|$", re.MULTILINE)
_KEPT: Final = "S3, GiB kept"
_OF_COSTS_MD: Final = 10_000
"""The volumes that infra/costs.md is about."""


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """The run of a million volumes: how many they were, and what it cost by service, USD."""

    volumes: int
    usd: Mapping[str, float]

    @classmethod
    def from_page(cls) -> "Scaled":
        """The largest run on the page of `make scale`."""
        page = (ROOT / "benchmarks" / "scale" / "README.md").read_text(encoding="utf-8")
        volumes, shares = _SCALED.search(page), _SHARES.search(page)
        if volumes is None or shares is None:
            raise SystemExit("benchmarks/scale/README.md has no run of a million volumes: make scale")
        pairs = (share.rsplit(" ", 1) for share in shares[1].split(", "))
        return cls(volumes=int(volumes[1].replace(",", "")), usd={name: float(usd) for name, usd in pairs})

    @property
    def metrics_a_volume(self) -> float:
        return self.usd[METRICS] / USD_METRIC / self.volumes

    @property
    def other_usd_a_volume(self) -> float:
        """The dollars of all that is not metrics."""
        return sum(usd for name, usd in self.usd.items() if name != METRICS) / self.volumes


def measure() -> Iterator[Row]:
    """A row for each size."""
    scaled, fixed_usd, kept_usd = Scaled.from_page(), *_by_the_month()
    measured = metrics_a_volume()
    for size in SIZES:
        metrics = scaled.metrics_a_volume if size >= scaled.volumes // 2 else measured
        metrics_usd, other_usd = size * metrics * USD_METRIC, size * scaled.other_usd_a_volume
        run_usd, storage_usd = metrics_usd + other_usd, size * kept_usd
        month_usd = run_usd * WEEKS_A_MONTH + storage_usd + fixed_usd
        yield Row(
            what=f"{size:,} volumes: a run; a month of weekly runs",
            measured=f"{run_usd:,.2f} USD ({metrics_usd:,.2f} for {metrics:.1f} metrics a volume, {other_usd:,.4f} for "
            f"functions, transitions, storage and tables); {month_usd:,.2f} USD ({storage_usd:,.2f} for what is kept, "
            f"{fixed_usd:,.2f} for alarms, metrics, dashboard and sweep)",
        )


def metrics_a_volume() -> float:
    """The metrics that CloudWatch bills for a volume of a simulated account of everyday volumes."""
    with running(datetime.now(UTC), volumes=MEASURED_VOLUMES, mix=Mix.EVERYDAY) as account:
        return audited(account).usage.metrics / len(account.fleet.volumes)


def _by_the_month() -> tuple[float, float]:
    """The dollars a month that do not grow with volumes, and those that each volume's results take in the end."""
    page = (ROOT / "infra" / "costs.md").read_text(encoding="utf-8").partition("| a month |")[2].partition("\n\n")[0]
    rows = {name: float(usd.replace(",", "")) for name, _, usd in _BY_THE_MONTH.findall(page)}
    kept = sum(usd for name, usd in rows.items() if name.startswith(_KEPT))
    if not kept:
        raise SystemExit("infra/costs.md does not say what is kept")
    return sum(rows.values()) - kept, kept / _OF_COSTS_MD


if __name__ == "__main__":
    for row in measure():
        sys.stdout.write(f"{row}\n")
