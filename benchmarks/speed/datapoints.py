"""How many datapoints and calls the demo's organization takes, against reading every minute, by archetype; and what the
time before the window takes of them."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import long_memory
from long_memory import WINDOW_ALONE
from measured_audit import Audited, Row, audited

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.running import running
from plimsoll.decide.answer import Change, Recommendation

TARGET = 40.0


@dataclass(frozen=True, kw_only=True)
class Share:
    """An archetype's volumes, and the datapoints of each on average: all, and those that were read."""

    archetype: str
    volumes: int
    every_minute: float
    read: float

    @property
    def ratio(self) -> float:
        """How many times fewer were read."""
        return self.every_minute / self.read


def measure(volumes: int = DEMO_VOLUMES) -> tuple[list[Row], list[Share]]:
    """The fleet's rows and every archetype's share; the answers of both readings have to be the same."""
    with running(datetime.now(UTC), volumes=volumes) as organization:
        window = audited(organization, policy=WINDOW_ALONE)
        part = audited(organization)
        whole = audited(organization, every_minute=True)
        archetypes = {one.id: one.workload.archetype.value for one in organization.fleet.volumes if one.workload}
    assert_same_answers(part, whole)
    shares = _shares(part, whole, archetypes)
    ratio = whole.usage.datapoints / part.usage.datapoints
    row = Row(
        what=f"datapoints of the demo's {len(archetypes):,} volumes, every minute against read",
        measured=f"{whole.usage.datapoints:,} : {part.usage.datapoints:,}",
        ratio=ratio,
        target=TARGET,
        at_least=True,
        note=f"{whole.usage.calls:,} calls and {whole.usage.metrics:,} metrics against {part.usage.calls:,} and "
        f"{part.usage.metrics:,}; the answers are the same",
    )
    return [row, long_memory.row(window, part)], shares


def assert_same_answers(part: Audited, whole: Audited) -> None:
    """Ends the process with the volumes whose answers differ where all was read."""
    differing = [
        name for name, answer in whole.recommendations.items() if _told(answer) != _told(part.recommendations[name])
    ]
    if differing:
        raise SystemExit(f"the answers differ for {differing}")


def _told(answer: Recommendation) -> tuple[object, ...]:
    target = (answer.target.spec, round(answer.usd_month_then, 6)) if isinstance(answer, Change) else None
    demand = getattr(answer, "demand", None)
    return type(answer), target, demand and (demand.censored, demand.throttled_minutes, demand.hours_observed)


def _shares(part: Audited, whole: Audited, archetypes: dict[str, str]) -> list[Share]:
    members: dict[str, list[str]] = defaultdict(list)
    for name in whole.datapoints:
        members[archetypes.get(name, "being created")].append(name)
    shares = [
        Share(
            archetype=archetype,
            volumes=len(names),
            every_minute=sum(whole.datapoints[name] for name in names) / len(names),
            read=sum(part.datapoints[name] for name in names) / len(names),
        )
        for archetype, names in members.items()
    ]
    return sorted(shares, key=lambda share: -share.ratio)


def table(shares: Sequence[Share]) -> str:
    """The archetypes as a Markdown table."""
    lines = ["| workload | volumes | datapoints of every minute | read | 1 of |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| {one.archetype} | {one.volumes:,} | {one.every_minute:,.0f} | {one.read:,.0f} | {one.ratio:,.1f} |"
        for one in shares
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    rows, found = measure()
    sys.stdout.write(f"{rows[0]}\n{table(found)}\n")
