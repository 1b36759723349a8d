"""README.md of this folder: the table of the runs that are kept."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.scale.functions import ROOT
from benchmarks.scale.step import USD_TRANSITION

KEPT: Final = ROOT / ".bench" / "scale"
PAGE: Final = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures: make scale -->", "<!-- end of scale -->"

INVENTORY: Final = "take_inventory"
AUDIT: Final = "audit_batch"
"""The steps that a run may take for some accounts alone."""

Run = Mapping[str, Any]


def write(page: Path = PAGE) -> None:
    """Puts the runs that are kept between their marks."""
    runs = sorted((json.loads(path.read_text(encoding="utf-8")) for path in KEPT.glob("*.json")), key=_volumes)
    if not runs:
        raise SystemExit(f"{KEPT} has no run: measure one with `make scale` first.")
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{text_of(runs)}{END}{after}", encoding="utf-8")


def text_of(runs: Sequence[Run]) -> str:
    """The runs, smallest first, as the page tells them."""
    return "\n".join((*_whole(runs), "", *_steps(runs[-1]), "", *_growth(runs), ""))


def _volumes(run: Run) -> int:
    return int(run["volumes"])


def _whole(runs: Sequence[Run]) -> list[str]:
    heads = ("targets", "volumes", "of them by calls", "minutes", "transitions", "retries", "items that failed")
    lines = [f"| run | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for run in runs:
        figures = [run[name] for name in ("targets", "volumes", "called")]
        counts = [run["transitions"], sum(run["retried"].values()), sum(run["caught"].values())]
        cells = [f"{figure:,}" for figure in figures] + [f"{run['seconds'] / 60:.1f}"] + [f"{one:,}" for one in counts]
        made = f"{run['date']}, commit {run['commit']} ({run['machine']}, control groups {run['groups']})"
        lines.append(f"| {made} | {' | '.join(cells)} |")
    return lines


def _steps(run: Run) -> list[str]:
    """What each step of one run took of its limits."""
    lines = [
        (
            "Each step of the last, with the most that one call took of each limit "
            f"(`{INVENTORY}` and `{AUDIT}`: of {run['called']:,} volumes):"
        ),
        "",
        "| step | calls of it | memory, MiB | temporary disk, MiB | longest, s | CPU, s | calls of AWS | USD |",
        "|---|" + "---:|" * 7,
    ]
    for step in run["steps"]:
        spent = step["spent"]
        lines.append(
            f"| `{step['name']}` | {spent['invocations']:,} | {spent['peak_mib']:.0f} of {step['memory_mib']:,} | "
            f"{spent['tmp_mib']:.0f} of {step['disk_mib']:,} | {spent['longest_s']:.1f} of {step['timeout_s']:g} | "
            f"{spent['cpu_s']:,.1f} | {sum(step['calls'].values()):,} | {sum(step['usd'].values()):.4f} |"
        )
    lines += ["", f"By service, USD: {_usd(run, copies=1)}."]
    if run["called"] < run["volumes"]:
        whole = _usd(run, copies=run["volumes"] / run["called"])
        lines += ["", f"Were they called for every volume (arithmetic), USD: {whole}."]
    return lines


def _usd(run: Run, *, copies: float) -> str:
    """What a run cost by service, the dearest first, had inventories and audits been called so many times as often."""
    usd = {"Step Functions": run["transitions"] * USD_TRANSITION}
    for step in run["steps"]:
        times = copies if step["name"] in {INVENTORY, AUDIT} else 1.0
        for service, amount in step["usd"].items():
            usd[service] = usd.get(service, 0.0) + times * amount
    return ", ".join(f"{service} {amount:.2f}" for service, amount in sorted(usd.items(), key=lambda one: -one[1]))


def _growth(runs: Sequence[Run]) -> list[str]:
    """The growth of each step from run to run: CPU a volume, and memory."""
    sizes = " and ".join(f"{run['volumes']:,}" for run in runs)
    cpu, memory = [], []
    for name in [step["name"] for step in runs[-1]["steps"]]:
        of = "called" if name in {INVENTORY, AUDIT} else "volumes"
        spent = [(run[of], step["spent"]) for run in runs for step in run["steps"] if step["name"] == name]
        cpu.append(f"`{name}` " + ", ".join(f"{1e3 * step['cpu_s'] / volumes:.3f}" for volumes, step in spent))
        memory.append(f"`{name}` " + ", ".join(f"{step['peak_mib']:.0f}" for _, step in spent))
    return [f"At {sizes} volumes, ms of CPU a volume: {'; '.join(cpu)}. MiB: {'; '.join(memory)}."]
