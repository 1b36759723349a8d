"""What auditing a million volumes through the Distributed Map takes: its batches, concurrency and quotas, simulated.

Every batch is one Lambda. Those of one account and region share CloudWatch's quota there: a batch is done when it has
computed and when the quota has let its datapoints through. As many of a target run at once as keep its quota busy, and
no more, since waiting is billed. What a batch takes is what the other benchmarks have measured.
"""

import heapq
import math
import sys
from dataclasses import dataclass

from measured_audit import Row

VOLUMES = 1_000_000
TARGETS = 400
"""100 accounts in four regions; their sizes fall as 1 / rank, so that the largest has a sixth of everything."""

BATCH_VOLUMES = 500
LAMBDAS_AT_ONCE = 1_000
DATAPOINTS_PER_S = 396_000
"""AWS's default quotas: concurrent executions of an account, GetMetricData datapoints of an account in a region."""

START_S = 2.0
LAMBDA_GB = 1769 / 1024
USD_GB_S = 0.0000133334
USD_LAMBDA = 0.20 / 1e6
USD_TRANSITION = 0.025 / 1e3
USD_PUT = 0.005 / 1e3
USD_METRIC = 0.01 / 1e3
"""us-east-1 list prices: Lambda on arm64 (1,769 MB are one vCPU), Step Functions standard workflows, S3, CloudWatch."""

TRANSITIONS = 3
PUTS = 3
"""Of each batch: the item's start, its task and its end; the batch's lines, its results and its summary."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What a batch of volumes takes: seconds of a core, datapoints, metrics."""

    compute_s: float
    datapoints: float
    metrics: float

    @property
    def quota_s(self) -> float:
        """How long the quota of its target is busy with it."""
        return self.datapoints / DATAPOINTS_PER_S


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The simulated run: when the last batch ended, and how long all Lambdas ran together."""

    batches: int
    seconds: float
    lambda_s: float

    def usd(self, batch: Batch) -> dict[str, float]:
        """What it costs, by service."""
        return {
            "Lambda": self.lambda_s * LAMBDA_GB * USD_GB_S + self.batches * USD_LAMBDA,
            "Step Functions": self.batches * TRANSITIONS * USD_TRANSITION,
            "S3": self.batches * PUTS * USD_PUT,
            "GetMetricData": self.batches * batch.metrics * USD_METRIC,
        }


def simulate(batch: Batch, volumes: int = VOLUMES) -> Outcome:
    """Runs the batches of every target, largest target first, and says when the last one ends."""
    weights = [1 / rank for rank in range(1, TARGETS + 1)]
    left = [max(1, round(volumes / BATCH_VOLUMES * weight / sum(weights))) for weight in weights]
    batches = sum(left)
    at_once = max(1, math.ceil((batch.compute_s + START_S) / batch.quota_s))
    running = [0] * TARGETS
    quota_free_s = [0.0] * TARGETS
    ends: list[tuple[float, int]] = []
    now_s = lambda_s = 0.0
    while any(left) or ends:
        for target in range(TARGETS):
            while left[target] and running[target] < at_once and len(ends) < LAMBDAS_AT_ONCE:
                quota_free_s[target] = max(quota_free_s[target], now_s) + batch.quota_s
                end_s = max(now_s + START_S + batch.compute_s, quota_free_s[target])
                heapq.heappush(ends, (end_s, target))
                lambda_s += end_s - now_s
                left[target] -= 1
                running[target] += 1
        now_s, target = heapq.heappop(ends)
        running[target] -= 1
    return Outcome(batches=batches, seconds=now_s, lambda_s=lambda_s)


def measure(*, compute_s_a_volume: float, datapoints_a_volume: float, metrics_a_volume: float) -> list[Row]:
    """The row of a million volumes, against reading every minute of them."""
    batch = Batch(
        compute_s=BATCH_VOLUMES * compute_s_a_volume,
        datapoints=BATCH_VOLUMES * datapoints_a_volume,
        metrics=BATCH_VOLUMES * metrics_a_volume,
    )
    found, usd = simulate(batch), simulate(batch).usd(batch)
    whole = Batch(compute_s=batch.compute_s, datapoints=BATCH_VOLUMES * 8 * 20_700, metrics=BATCH_VOLUMES * 8)
    every_minute = simulate(whole)
    money = ", ".join(f"{service} ${amount:,.2f}" for service, amount in usd.items())
    return [
        Row(
            what=f"a million volumes in {TARGETS} targets (simulated), every minute against what is read",
            measured=f"{every_minute.seconds / 3600:.1f} h : {found.seconds / 60:.1f} min",
            ratio=every_minute.seconds / found.seconds,
            note=(
                f"{found.batches:,} batches of {BATCH_VOLUMES}, each {batch.compute_s:.1f} s of a core and "
                f"{batch.quota_s:.1f} s of its target's quota; {found.lambda_s:,.0f} Lambda-seconds; {money}. The "
                f"largest target has a sixth of all volumes, and its quota decides when the last batch ends"
            ),
        )
    ]


if __name__ == "__main__":
    for row in measure(compute_s_a_volume=0.008, datapoints_a_volume=1_600, metrics_a_volume=22):
        sys.stdout.write(f"{row}\n")
