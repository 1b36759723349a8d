"""`python -m tests.closed_loop.fleets`: what each way to find headroom makes of the public fleet, and what came after.

Each machine stands for a gp3 of 500 GiB with 16,000 IOPS and 1,000 MiB/s that is audited on the 62nd of 92 days.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Keep, Recommendation, Upgrade
from plimsoll.model.policy import ANY_RISK_PCT, HeadroomFrom, Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.risk.learn import count_throttled
from plimsoll_backtest.fleet import Fleet
from tests.builders import TYPES, a_market
from tests.closed_loop.loop import POLICY, audited
from tests.closed_loop.workload import BUCKET_S, DAY, Numbers, Workload

FLEET: Final = Path(__file__).parents[2] / "benchmarks" / "fleets" / "bitbrains-rnd-250.npz"
SPEC: Final = VolumeSpec(type="gp3", size_gib=500, iops=16_000, throughput_mib_s=1000)
CUT: Final = 62 * DAY
TIMES: Final = (10.0, 40.0)
IO_KIB: Final = 32.0
PROMISED_MINUTES: Final = 15
ALLOWED_PCT: Final = Policy().risk_pct
WAYS: Final = {
    "fixed, any risk": replace(POLICY, risk_pct=ANY_RISK_PCT),
    "fixed": replace(POLICY, risk_pct=ALLOWED_PCT),
    "learned": replace(POLICY, risk_pct=ALLOWED_PCT, headroom_from=HeadroomFrom.LEARNED),
}
HEADS: Final = (
    "demand",
    "headroom",
    "reductions",
    f"above {ALLOWED_PCT:g} %",
    "outgrown in 30 days",
    "relief",
    "saved a month",
    "not recommended",
)


def demands(times: float, every: int) -> Iterator[Numbers]:
    """IOPS of each machine, or of each of so many, in buckets of five minutes; 0 where there is no sample."""
    for batch in Fleet(FLEET, IO_KIB).batches():
        for number, rates in enumerate(batch.rates, start=batch.first):
            if number % every == 0:
                yield np.nan_to_num(rates[0]) * times


def row(times: float, way: str, every: int) -> tuple[str, ...]:
    """The figures of one way to find headroom."""
    answers = [(wanted, _answer(wanted, WAYS[way])) for wanted in demands(times, every)]
    cut = [(wanted, one) for wanted, one in answers if isinstance(one, Change) and not isinstance(one, Upgrade)]
    saved = sum(max(0.0, one.usd_month_saved) for _, one in answers if isinstance(one, Change))
    whole = (a_market().book.usd_month(SPEC) or 0.0) * len(answers)
    left_out = [one for _, one in answers if isinstance(one, Keep) and one.too_risky is not None]
    return (
        f"times {times:g}",
        way,
        f"{len(cut):,}",
        f"{sum(not _is_allowed(one) for _, one in cut):,}",
        f"{sum(_is_outgrown(wanted, one.target.spec) for wanted, one in cut):,}",
        f"{sum(isinstance(one, Upgrade) for _, one in answers):,}",
        f"${saved:,.0f} ({saved / whole:.0%})",
        f"{len(left_out):,}",
    )


def _answer(wanted: Numbers, policy: Policy) -> Recommendation:
    work = Workload("fleet", wanted, np.full(len(wanted), IO_KIB))
    ceiling = TYPES[SPEC.type].ceiling(SPEC)
    served = work.carried(0, len(wanted), ceiling.iops, ceiling.throughput_mib_s)
    return audited(SPEC, served[:CUT], work, CUT, (), policy)


def _is_allowed(answer: Change) -> bool:
    promised_pct = None if answer.risk is None else answer.risk.promised_pct
    return promised_pct is not None and promised_pct <= ALLOWED_PCT


def _is_outgrown(wanted: Numbers, spec: VolumeSpec) -> bool:
    """Whether a size throttles for more than 15 minutes of the days after it, that what there was would not have."""
    after = wanted[CUT:]
    rates = np.stack([after, after * IO_KIB / 1024])[None]
    minutes = []
    for one in (spec, SPEC):
        ceiling = TYPES[one.type].ceiling(one)
        limits = np.array([[ceiling.iops, ceiling.throughput_mib_s]])
        minutes.append(float(count_throttled(rates, limits, BUCKET_S)[0][0]))
    return minutes[0] - minutes[1] > PROMISED_MINUTES


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.closed_loop.fleets")
    parser.add_argument("--every", type=int, default=1, help="only every so many machines")
    options = parser.parse_args()
    sys.stdout.write(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}\n")
    for times in TIMES:
        for way in WAYS:
            sys.stdout.write(f"| {' | '.join(row(times, way, options.every))} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
