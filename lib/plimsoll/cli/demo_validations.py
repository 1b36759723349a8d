"""Answers of the demo that are validated, measured by fio on what is simulated."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.console import Console

from plimsoll.bootstrap import AWS, OpenCloud, Scope, open_clouds
from plimsoll.cli.validate import Terms, context_of, ended_by_sigterm, follow, new_job
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.domain.validation import Budget, Want
from plimsoll.reports.record import RecommendationRecord
from plimsoll.settings import Settings
from plimsoll.validate import validate_volume
from plimsoll.validation.proposal import FLIP
from plimsoll.validation.thin_evidence import wants_in

NO_LATENCY: Final = Policy(max_p99_latency_us=60_000_000, latency_slack_pct=10_000)
"""A simulated volume is held to a real one's IOPS and MiB/s, but answers as this machine's disk does."""

MOST_IOPS: Final = 12_000
MOST_MIB_S: Final = 300
"""What any machine's own disk carries: larger targets would measure this machine."""

LEAST_IOPS: Final = 1000
"""A workload that asks for less at its peak is not worth the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A volume to validate, and a target in place of the recommended one; `title` says what it shows."""

    title: str
    record: RecommendationRecord
    target: str | None = None


def validate_examples(
    console: Console,
    scope: Scope,
    settings: Settings,
    ledger: Ledger,
    records: Sequence[RecommendationRecord],
    now: datetime,
) -> None:
    """Validates a recommendation of each cloud of the scope, and on AWS what a bare change of type would do to a volume
    that needs more; prints what was found."""
    console.print(
        "\nThe simulated volumes are measured by real fio. Their latency is this machine's, and is not judged here.",
        style="dim",
    )
    for cloud in open_clouds(scope, settings, today=now.date(), ledger=ledger, paced=False):
        for example in _examples(cloud, records):
            name = example.record.name or "no name"
            console.print(f"\n{example.title} {example.record.volume_id} ({name})", style="bold", soft_wrap=True)
            _carry_out(console, example, cloud, settings, now)


def _carry_out(console: Console, example: Example, cloud: OpenCloud, settings: Settings, now: datetime) -> None:
    terms = Terms(budget=Budget(max_runs=3), yes=True)
    job = new_job(example.record.volume_id, example.target, terms, cloud.ports, now)
    with ended_by_sigterm():
        follow(console, validate_volume(job, context_of(cloud, NO_LATENCY, terms, settings, console)))


def _examples(cloud: OpenCloud, records: Iterable[RecommendationRecord]) -> Iterator[Example]:
    """What is validated of a cloud."""
    catalog = cloud.ports.catalog
    own = [one for one in records if one.provider == catalog.provider]
    recommended = "Validating a recommendation before anything is moved:"
    if catalog.provider != AWS:
        found = _most_shared(own, list(wants_in(own, NO_LATENCY, Grade.A, catalog.types)))
        yield from (Example(title=recommended, record=one) for one in found)
        return
    yield from (Example(title=recommended, record=one) for one in _easy(own))
    bare = "Validating a bare change of type, as tools make it that do not look at demand:"
    yield from (Example(title=bare, record=one, target=FLIP) for one in _hard(own))


def _easy(records: Iterable[RecommendationRecord]) -> list[RecommendationRecord]:
    """The best saving whose target is what gp3 includes, with a workload worth the name."""
    return _best(one for one in records if _asks(one) == (3000, 125) and _works(one))


def _hard(records: Iterable[RecommendationRecord]) -> list[RecommendationRecord]:
    """The best saving whose target needs more than gp3 includes, and no more than any machine carries."""
    return _best(
        one
        for one in records
        if (asked := _asks(one)) is not None
        and asked != (3000, 125)
        and asked[0] <= MOST_IOPS
        and asked[1] <= MOST_MIB_S
    )


def _most_shared(records: Iterable[RecommendationRecord], wants: Iterable[Want]) -> list[RecommendationRecord]:
    """The best saving whose target any machine carries, with a workload worth the name: first of those that are to
    share what they carry with others, and are measured as one volume."""
    carried = {
        want.volume_id: want
        for want in wants
        if want.ceiling.iops <= MOST_IOPS and want.ceiling.throughput_mib_s <= MOST_MIB_S
    }
    found = [one for one in records if one.volume_id in carried and one.monthly_usd_saved > 0 and _works(one)]
    shared = [one for one in found if carried[one.volume_id].spec.size_gib > one.current.size_gib]
    return _best(shared or found)


def _works(record: RecommendationRecord) -> bool:
    return record.demand is not None and record.demand.peak_iops > LEAST_IOPS


def _asks(record: RecommendationRecord) -> tuple[int, int] | None:
    """What a migration to gp3 provisions, None for any other answer or one that cannot be carried out today."""
    target = record.target
    if record.action != "migrate" or target is None or target.type != "gp3" or record.blockers:
        return None
    return (target.iops or 0, target.throughput_mib_s or 0)


def _best(records: Iterable[RecommendationRecord]) -> list[RecommendationRecord]:
    """The one that saves most; none where there is none."""
    return sorted(records, key=lambda one: (one.monthly_usd_saved, one.volume_id))[-1:]
