"""What each way to find headroom does to simulated accounts: reductions above the policy's risk, relief, saving, calls
and datapoints. `python benchmarks/speed/risk_choice.py [--volumes N]` prints a table in Markdown."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from measured_audit import Audited, audited

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.running import running
from plimsoll.decide.answer import Change, Keep, Recommendation, Upgrade
from plimsoll.model.policy import ANY_RISK_PCT, HeadroomFrom, Policy

WAYS: Final = {
    "fixed, any risk": Policy(risk_pct=ANY_RISK_PCT),
    "fixed": Policy(headroom_from=HeadroomFrom.FIXED),
    "learned": Policy(headroom_from=HeadroomFrom.LEARNED),
}
ALLOWED_PCT: Final = Policy().risk_pct
HEADS: Final = (
    "account",
    "headroom",
    "reductions",
    f"above {ALLOWED_PCT:g} %",
    "relief",
    "saved a month",
    "not recommended",
    "calls",
    "datapoints",
)


def rows(volumes: int) -> Iterator[tuple[str, ...]]:
    """A row for each way, of one simulated account."""
    with running(datetime.now(UTC), volumes=volumes) as organization:
        every_minute = audited(organization, every_minute=True).usage.datapoints
        for name, policy in WAYS.items():
            yield (
                f"{volumes:,} volumes",
                name,
                *_figures(audited(organization, policy=policy, by_minutes_s=0), every_minute),
            )


def _figures(account: Audited, every_minute: int) -> tuple[str, ...]:
    answers = account.recommendations.values()
    reductions = [one for one in answers if isinstance(one, Change) and not isinstance(one, Upgrade) and one.cuts]
    usage = account.usage
    return (
        f"{len(reductions):,}",
        f"{sum(not _is_allowed(one) for one in reductions):,}",
        f"{sum(isinstance(one, Upgrade) for one in answers):,}",
        f"${sum(_saved(answers)):,.0f}",
        f"${sum(_not_recommended(answers)):,.0f}",
        f"{usage.calls:,}",
        f"{usage.datapoints:,} (1/{every_minute / usage.datapoints:.0f})",
    )


def _is_allowed(answer: Change) -> bool:
    promised_pct = None if answer.risk is None else answer.risk.promised_pct
    return promised_pct is not None and promised_pct <= ALLOWED_PCT


def _saved(answers: Iterable[Recommendation]) -> Iterator[float]:
    yield from (max(0.0, one.usd_month_saved) for one in answers if isinstance(one, Change))


def _not_recommended(answers: Iterable[Recommendation]) -> Iterator[float]:
    """The further saving of reductions whose risk is too high, USD a month."""
    for one in answers:
        if isinstance(one, Change | Keep) and one.too_risky is not None and one.too_risky.saves_enough:
            usd_month = one.usd_month_then if isinstance(one, Change) else one.usd_month_now
            yield usd_month - (one.too_risky.offer.usd_month or 0.0)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--volumes", type=int, action="append", help=f"default: {DEMO_VOLUMES} and 250")
    options = parser.parse_args()
    lines = [HEADS, ("---",) * len(HEADS)]
    for volumes in options.volumes or (DEMO_VOLUMES, 250):
        lines += rows(volumes)
    sys.stdout.write("".join(f"| {' | '.join(line)} |\n" for line in lines))


if __name__ == "__main__":
    main()
