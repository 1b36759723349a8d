"""The recommendations of a demo that real fio puts to the test."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from plimsoll.bootstrap.clouds import OpenCloud, open_clouds
from plimsoll.cli.screen import Screen
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Grade, Policy
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import read_records
from plimsoll.settings import Settings
from plimsoll_measure.cli.options import ValidateOptions
from plimsoll_measure.cli.validations import context_of, follow_validation, new_job
from plimsoll_measure.runs import Want
from plimsoll_measure.validate import validate_volume
from plimsoll_measure.validation.deciding import FLIP
from plimsoll_measure.validation.thin_evidence import wants_in

NO_LATENCY: Final = Policy(max_p99_latency_us=60_000_000, latency_slack_pct=10_000)
"""A simulated volume is held to a real one's IOPS and MiB/s, but answers as this machine's disk does."""

MOST_IOPS: Final = 12_000
MOST_MIB_S: Final = 300
"""The rate that any machine's own disk carries. Larger targets would measure this machine."""

LEAST_IOPS: Final = 1000
"""A workload that asks for less at its peak is not worth the name."""

INCLUDED: Final = (3000, 125)
"""The IOPS and MiB/s that gp3 includes."""

Example = tuple[str, RecommendationRecord, str | None]
"""The point that a validation shows, its recommendation, and a target in place of the recommended one."""


def validate_examples(console: Screen, scope: Scope, settings: Settings, folder: Path, now: datetime) -> None:
    """Validates a recommendation of each cloud of the scope, and prints what was found.

    On AWS a bare change of type is validated too, of a volume that needs more than that.
    """
    console.print(
        "\nThe simulated volumes are measured by real fio. Their latency is this machine's, and is not judged here.",
        style="dim",
    )
    records, ledger = read_records(folder), Ledger(path=folder / "ledger.json")
    options = ValidateOptions(max_runs=3, yes=True)
    for cloud in open_clouds(scope, settings, today=now.date(), ledger=ledger, paced=False):
        for title, record, target in _examples(cloud, records):
            console.say(f"\n{title} {record.volume_id} ({record.name or 'no name'})", "bold")
            job = new_job(record.volume_id, target, options, cloud.ports, now)
            follow_validation(console, validate_volume(job, context_of(cloud, NO_LATENCY, options, settings, console)))


def _examples(cloud: OpenCloud, records: Iterable[RecommendationRecord]) -> Iterator[Example]:
    """The examples of a cloud that are validated."""
    catalog = cloud.ports.catalog
    records_here = [record for record in records if record.provider == catalog.provider]
    recommended = "Validating a recommendation before anything is moved:"
    if catalog.provider != AWS:
        shared = _most_shared(records_here, list(wants_in(records_here, NO_LATENCY, Grade.A, catalog.types)))
        yield from ((recommended, record, None) for record in shared)
        return
    asked = [(record, figures) for record in records_here if (figures := _provisions(record)) is not None]
    easy = [record for record, figures in asked if figures == INCLUDED and _works(record)]
    hard = [
        record
        for record, (iops, mib_s) in asked
        if (iops, mib_s) != INCLUDED and iops <= MOST_IOPS and mib_s <= MOST_MIB_S
    ]
    yield from ((recommended, record, None) for record in _best(easy) or _best(hard))
    bare = "Validating a bare change of type, as tools do that ignore demand:"
    yield from ((bare, record, FLIP) for record in _best(hard))


def _most_shared(records: Iterable[RecommendationRecord], wants: Iterable[Want]) -> list[RecommendationRecord]:
    """The best saving whose target any machine carries, with a workload worth the name.

    Volumes that are to share what they carry come first: they are measured as one volume.
    """
    carried = {
        want.volume_id: want
        for want in wants
        if want.ceiling.iops <= MOST_IOPS and want.ceiling.throughput_mib_s <= MOST_MIB_S
    }
    fitting = [
        record for record in records if record.volume_id in carried and record.monthly_usd_saved > 0 and _works(record)
    ]
    shared = [record for record in fitting if carried[record.volume_id].spec.size_gib > record.current.size_gib]
    return _best(shared or fitting)


def _works(record: RecommendationRecord) -> bool:
    return record.demand is not None and record.demand.peak_iops > LEAST_IOPS


def _provisions(record: RecommendationRecord) -> tuple[int, int] | None:
    """The IOPS and MiB/s that a migration to gp3 provisions.

    None for any other answer or one that cannot be carried out today.
    """
    target = record.target
    if record.action != "migrate" or target is None or target.type != "gp3" or record.blockers:
        return None
    return (target.iops or 0, target.throughput_mib_s or 0)


def _best(records: Iterable[RecommendationRecord]) -> list[RecommendationRecord]:
    """The one that saves most; none where there is none."""
    return sorted(records, key=lambda record: (record.monthly_usd_saved, record.volume_id))[-1:]
