"""Runs every benchmark of this folder and writes the results into README.md beside it, as tables and a chart.

`make bench`. Each figure is a ratio of two measurements of one run on one machine; absolute times are that machine's.
"""

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import account
import billed
import cold_start
import datapoints
import decision
import google_calls
import growth
import quiet_profile
import report
import vl_convert
from measured_audit import CACHE, Row
from versions import commit_of

PAGE = Path(__file__).with_name("README.md")
CHART = PAGE.with_name("performance.svg")
BEGIN, END = "<!-- figures: make bench -->", "<!-- end of figures -->"


def main() -> None:
    """Measures, writes, and says what misses its target; a miss is a result, not a failure."""
    CACHE.mkdir(exist_ok=True)
    rows, shares = _measured()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    when = f"on {datetime.now(UTC):%Y-%m-%d} at commit {commit_of('HEAD')[:8]}"
    text = f"Measured {when} by `make bench` ({machine}).\n\n{_table(rows)}\n\n"
    _say("what is done for a quiet volume")
    text += f"What an audit does for a quiet volume, on one core:\n\n{quiet_profile.table(quiet_profile.measure())}\n\n"
    text += "![How many times fewer datapoints are read, by workload](performance.svg)\n"
    _write(PAGE, text)
    _chart(shares, CHART)
    for row in rows:
        sys.stdout.write(f"{'met   ' if row.met else 'MISSED'} {row.what}: {row.measured} = {row.ratio:.2f}\n")


def _measured() -> tuple[list[Row], Sequence[datapoints.Share]]:
    _say("datapoints of the demo's organization")
    rows, shares = datapoints.measure()
    _say("metrics billed of accounts")
    rows += billed.measure()
    _say(f"{google_calls.DISKS} disks of Google Cloud")
    rows += google_calls.measure()
    _say(f"{account.VOLUMES} volumes against Cloud Custodian")
    rows += account.measure()
    _say("decisions alone")
    rows += decision.measure()
    _say(f"growth to {growth.SIZES[-1]:,} volumes")
    rows += growth.measure()
    _say("the report")
    rows += report.measure()
    _say("starts")
    rows += cold_start.rows(cold_start.measure(cold_start.REPEATS, cold_start.cases()))
    return rows, shares


def _table(rows: Sequence[Row]) -> str:
    lines = ["| what | measured | ratio | target | |", "|---|---|---:|---:|---|"]
    for row in rows:
        target = "" if row.target is None else f"{'at least' if row.at_least else 'at most'} {row.target:g}"
        verdict = "" if row.target is None else ("met" if row.met else "**missed**")
        note = f" ({row.note})" if row.note else ""
        lines.append(f"| {row.what}{note} | {row.measured} | {row.ratio:.2f} | {target} | {verdict} |")
    return "\n".join(lines)


def _write(page: Path, text: str) -> None:
    """Puts the figures between their marks."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


def _chart(shares: Sequence[datapoints.Share], path: Path) -> None:
    axis = "times fewer datapoints than every minute (logarithmic)"
    spec = {
        "data": {"values": [{"workload": one.archetype, "fewer": round(one.ratio, 1)} for one in shares]},
        "width": 520,
        "height": 300,
        "encoding": {
            "x": {
                "field": "fewer",
                "type": "quantitative",
                "title": axis,
                "scale": {"type": "log", "domainMin": 1},
                "stack": None,
            },
            "y": {"field": "workload", "type": "nominal", "sort": "-x", "title": None},
        },
        "layer": [
            {"mark": {"type": "bar", "color": "#1f6f8b"}, "encoding": {"x2": {"datum": 1}}},
            {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "fewer"}}},
        ],
    }
    path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def _say(what: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%H:%M:%S} measuring: {what}\n")


if __name__ == "__main__":
    main()
