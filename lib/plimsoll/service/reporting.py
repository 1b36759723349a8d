"""The report of a run: its batches put together, a page to read, and the events that tell of it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from plimsoll.ports import RunStore
from plimsoll.reports.html.page import write_html
from plimsoll.reports.record import FIRST_PROVIDER, RecommendationRecord, run_of
from plimsoll.reports.run_reader import (
    DEMAND,
    PAGE,
    RECOMMENDATIONS,
    RUN,
    TABLE,
    UNANSWERED,
    UnansweredRecord,
    full_name,
    matched_records,
    stream_records,
    stream_unanswered,
)
from plimsoll.reports.run_tables import RunTables, run_tables
from plimsoll.reports.run_writer import write_run
from plimsoll.reports.totals import Totals
from plimsoll.service.events import Event, audit_completed
from plimsoll.service.planning import RunOrder, order_of, planned_targets
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import bring
from plimsoll.service.step_messages import Reported, RunMessage
from plimsoll.service.store_keys import LATEST_REPORT, RunKeys
from plimsoll.service.stored_results import LatestReport, batch_folders, latest_report, needed
from plimsoll.service.summarizing import failures

REPORT: Final = (RECOMMENDATIONS, TABLE, UNANSWERED, PAGE, RUN)
"""The files of a report, in the order in which they are kept: where run.json is, the others are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report that is kept: the answer about it, its run.json, and what is to be told of it."""

    answer: Reported
    run: dict[str, Any]
    events: list[Event]


def report(service: Service, told: RunMessage) -> Report:
    """Puts a summarized run's batches together and keeps its report; doing it again keeps the same.

    The page shows the volumes with the most at stake where they are more than it holds, the tables all of them. Memory
    does not grow with the fleet; the disk of this machine holds all recommendations, and the demand of those shown.
    """
    keys, store = RunKeys(run_id=told.run_id), service.store
    order, run = order_of(store, told.run_id), run_of(needed(store, keys.summary))
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        folder, beside, most = Path(temporary) / told.run_id, Path(temporary) / "batch", service.config.page_volumes
        shown = None
        if run["volumes"]["answered"] > most:
            shown = _most_at_stake(most, batch_folders(store, keys, beside, (RECOMMENDATIONS,)))
        folder.mkdir()
        write_run(folder, run)
        with run_tables(folder) as whole:
            _put_together(store, keys, beside, shown, whole)
        _write_page(service, order, run, shown, folder)
        for name in REPORT:
            store.put_file(keys.report(name), folder / name)
    _point_to(store, order)
    place = f"{service.root}/{keys.report(PAGE)}"
    return Report(
        answer=Reported(
            run_id=told.run_id,
            status=run["status"],
            report=place,
            volumes=run["volumes"]["seen"],
            saved_usd_month=run["monthly_usd"]["saved"],
        ),
        run=run,
        events=[audit_completed(run, place), *json.loads(needed(store, keys.news))],
    )


def _point_to(store: RunStore, order: RunOrder) -> None:
    """Lets the report be found as the latest, unless one of a later run is: an earlier run may be gone on with."""
    latest = latest_report(store)
    if latest is None or latest.now <= order.now:
        store.put(LATEST_REPORT, LatestReport(run_id=order.run_id, now=order.now).model_dump_json().encode())


def _most_at_stake(count: int, folders: Iterable[Path]) -> frozenset[str]:
    """The full names of the volumes to look at first: those throttled today, then those with the most money."""
    stakes = (_stake(record) for folder in folders for record in stream_records(folder))
    return frozenset(name for *_, name in nlargest(count, stakes))


def _stake(record: RecommendationRecord) -> tuple[bool, float, str]:
    money = (record.monthly_usd_now or 0.0) if record.action == "detached" else record.monthly_usd_saved
    return record.action == "upgrade", money, full_name(record)


def _put_together(store: RunStore, keys: RunKeys, beside: Path, shown: frozenset[str] | None, whole: RunTables) -> None:
    """Adds the volumes of every batch, which is brought to a folder beside the report's."""
    for batch in batch_folders(store, keys, beside, (RECOMMENDATIONS, DEMAND, UNANSWERED)):
        for record, profile in matched_records(batch, None):
            whole.add(record, profile if shown is None or full_name(record) in shown else None)
        for volume in stream_unanswered(batch):
            whole.leave_out(volume)
    providers = {str(target): target.provider for target in planned_targets(store, keys)}
    for failed in failures(store, keys):
        for volume in _left_out(failed, providers):
            whole.leave_out(volume)


def _left_out(failed: Totals, providers: Mapping[str, str]) -> Iterator[UnansweredRecord]:
    """The volumes of a target or a batch that failed; `providers` are the clouds by target."""
    for place, reasons in failed.failed_volumes.items():
        account, region = place.split("/")
        for reason, ids in reasons.items():
            for volume_id in ids:
                yield UnansweredRecord(
                    account=account,
                    region=region,
                    volume_id=volume_id,
                    outcome="failed",
                    reason=reason,
                    provider=providers.get(place, FIRST_PROVIDER),
                )


def _write_page(
    service: Service, order: RunOrder, run: dict[str, Any], shown: frozenset[str] | None, folder: Path
) -> None:
    bring(service.store, service.measured)
    policy = order.parsed_policy
    which = (
        f"Here are the {len(shown or ()):,} of {run['volumes']['answered']:,} volumes with the most at stake; all of "
        f"them are in {TABLE} and {RECOMMENDATIONS} beside this report, and in the Parquet tables."
    )
    write_html(
        folder,
        folder / PAGE,
        envelopes=service.envelopes(service.measured),
        console_link=lambda record: service.console_link(record, policy, order.now),
        shown=None if shown is None else lambda record: full_name(record) in shown,
        shown_told="" if shown is None else which,
        called=Path(order.run_id),
    )
