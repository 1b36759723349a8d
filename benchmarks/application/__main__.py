"""Prints predicted and measured transactions by volume; with --write, into README.md of this folder as well."""

import sys
from pathlib import Path
from typing import Final

from benchmarks.application.roofline import (
    Campaign,
    Prediction,
    fit,
    flat_from,
    iops_bound_sizes,
    load,
    predict,
    predictions,
    residuals_pct,
    turn,
    typical_pct,
)
from tests.corpus.__main__ import put

TARGET: Final = Path(__file__).with_name("README.md")


def tables(campaign: Campaign) -> dict[str, str]:
    """The tables of the document, by name."""
    found = predictions(campaign)
    return {
        "application": runs_table(found),
        "application sweeps": sweeps_table(campaign, found),
        "application fits": fits_table(campaign),
    }


def runs_table(found: list[Prediction]) -> str:
    """Every run: what its volumes carry, which side holds it back, and both figures."""
    head = [
        "| volumes | IOPS | MiB/s | limit | predicted tps | measured tps | residual |",
        "|---|--:|--:|---|--:|--:|--:|",
    ]
    return "\n".join(head + [_row(one) for one in found])


def _row(one: Prediction) -> str:
    name = f"{one.sweep.name}, {one.sweep.figure(one.run):,} {one.sweep.by}"
    residual = "fitted" if one.fitted else f"{one.residual_pct:+.1f} %"
    carried = f"{one.ceiling.iops:,.0f} | {one.ceiling.throughput_mib_s:,.0f} | {one.limit.unit}"
    return f"| {name} | {carried} | {one.tps:,.0f} | {one.run.tps:,.0f} | {residual} |"


def sweeps_table(campaign: Campaign, found: list[Prediction]) -> str:
    """Each sweep: how far the predictions are off, and where the limit changes."""
    lines = [
        "| sweep | runs predicted | residuals | median size | roofline turns at | measured flat from |",
        "|---|--:|---|--:|--:|--:|",
    ]
    for sweep in campaign.sweeps:
        off = residuals_pct(found, sweep.name)
        turns = f"{turn(campaign, sweep, fit(campaign)):,.0f} {sweep.by}"
        flat = f"{flat_from(sweep):,} {sweep.by}"
        spread = f"{min(off):+.1f} to {max(off):+.1f} %"
        typical = f"{typical_pct(found, sweep.name):.1f} %"
        lines.append(f"| {sweep.name} | {len(off)} | {spread} | {typical} | {turns} | {flat} |")
    return "\n".join(lines)


def fits_table(campaign: Campaign) -> str:
    """What another choice of the run that operations are fitted on would have given."""
    names = [sweep.name for sweep in campaign.sweeps]
    medians = " | ".join(f"median, {name}" for name in names)
    lines = [
        f"| fitted on gp2 of | operations | KiB each | gp2 turns at | {medians} |",
        f"|--:|--:|--:|--:|{'--:|' * len(names)}",
    ]
    last_gib = campaign.fitted_on.throughput_bound_gib
    for size_gib in iops_bound_sizes(campaign):
        application = fit(campaign, size_gib)
        found = predict(campaign, application, (size_gib, last_gib))
        turns = turn(campaign, campaign.sweep(campaign.fitted_on.sweep), application)
        fitted = f"{size_gib:,} GiB | {application.operations:.1f} | {application.io_kib:.1f} | {turns:,.0f} GiB"
        lines.append(f"| {fitted} | {' | '.join(f'{typical_pct(found, name):.1f} %' for name in names)} |")
    return "\n".join(lines)


def main() -> int:
    """Prints the tables; with --write, puts them into the document."""
    for name, table in tables(load()).items():
        sys.stdout.write(f"{table}\n\n")
        if "--write" in sys.argv:
            TARGET.write_text(put(TARGET.read_text(encoding="utf-8"), name, table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
