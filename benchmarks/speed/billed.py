"""How many metrics are billed of one account, as it is read, against the cheaper of both ways to read it: sparingly
throughout, and every minute of everything. CloudWatch bills a metric once in each call that asks for it."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from datapoints import assert_same_answers
from measured_audit import Row, audited

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running

SIZES = (20, 200, 2_000)
NO_MORE = 1.0


def measure(sizes: Sequence[int] = SIZES) -> list[Row]:
    """A row for each size of an account of everyday volumes; the answers of all three readings have to be the same."""
    return [_row(size) for size in sizes]


def _row(volumes: int) -> Row:
    with running(datetime.now(UTC), volumes=volumes, mix=Mix.EVERYDAY) as account:
        chosen = audited(account)
        sparing = audited(account, by_minutes_s=0.0)
        whole = audited(account, every_minute=True)
    for other in (chosen, sparing):
        assert_same_answers(other, whole)
    cheaper = min(sparing.usage.metrics, whole.usage.metrics)
    return Row(
        what=f"metrics billed of an account of {volumes:,} volumes, against the cheaper of both ways",
        measured=f"{chosen.usage.metrics:,} : {cheaper:,}",
        ratio=chosen.usage.metrics / cheaper,
        target=NO_MORE,
        note=f"sparingly {sparing.usage.metrics:,}, every minute {whole.usage.metrics:,}; datapoints "
        f"{chosen.usage.datapoints:,}, {sparing.usage.datapoints:,} and {whole.usage.datapoints:,}",
    )


if __name__ == "__main__":
    for row in measure([int(size) for size in sys.argv[1:]] or SIZES):
        sys.stdout.write(f"{row}\n")
