"""The report of a run: its batches put together, a page to read, and its events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, cast

from plimsoll.jobs.document import StoredDocument, require_content
from plimsoll.ports import RunStore
from plimsoll.reports.csv_table import ENCODING, csv_line, header
from plimsoll.reports.html.page import write_html
from plimsoll.reports.run_files import DEMAND, PAGE, RECOMMENDATIONS, RUN, TABLE, UNANSWERED
from plimsoll.reports.run_folder import write_run
from plimsoll.reports.run_reader import Matched, full_name, match_profiles
from plimsoll.reports.run_record import RunRecord, run_of
from plimsoll_service.events import ServiceEvent, audit_event
from plimsoll_service.history_update import news_name
from plimsoll_service.latest_report import LATEST, LatestReport, latest_report
from plimsoll_service.planning import RunOrder, order_of
from plimsoll_service.service import Service
from plimsoll_service.shards import Covered, find_covered, stakes_document
from plimsoll_service.shared_measurements import bring_measurements
from plimsoll_service.step_messages import Reported, RunMessage
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import join_lines, json_array, profiles_in, record_lines, records_in
from plimsoll_service.summarizing import find_unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReport:
    """A kept report, and the events to send."""

    answer: Reported
    run: RunRecord
    covered_pct: float  # the share of the scope that was read
    ended: ServiceEvent
    news: list[ServiceEvent]  # what is new and was not sent before


def keep_report(service: Service, message: RunMessage) -> KeptReport:
    """Keeps the report of a summarized run, from its shards; doing it again keeps the same.

    The page shows the volumes with the most at stake if they are more than it holds, the tables all of them. The tables
    stream from the store into the store: neither memory nor the disk of this machine grows with the fleet.
    """
    keys, store = RunKeys(run_id=message.run_id), service.store
    order, run = order_of(store, message.run_id), run_of(require_content(store, keys.summary))
    shards = keys.combined_shards(store)
    shown = None
    if run.volumes.answered > service.config.page_volumes:
        shown = _most_at_stake(service.config.page_volumes, store, keys, shards)
    _keep_tables(store, keys, shards)
    with TemporaryDirectory(prefix="plimsoll-") as temporary:
        folder = Path(temporary) / message.run_id
        folder.mkdir()
        write_run(folder, run.plain)
        _write_page(service, order, run, shown, folder)
        for name in (PAGE, RUN):
            store.put_file(keys.report(name), folder / name)
    _make_latest(store, order)
    place, reported_before = f"{service.root}/{keys.report(PAGE)}", _sent_names(store, keys)
    return KeptReport(
        answer=Reported(
            run_id=message.run_id,
            status=cast("Literal['complete', 'partial']", run.status),
            report=place,
            volumes=run.volumes.seen,
            saved_usd_month=run.monthly_usd.saved,
        ),
        run=run,
        covered_pct=_covered_pct(run, find_covered(store, keys)),
        ended=audit_event(run, place),
        news=[
            event
            for event in StoredDocument(keys.news, list[ServiceEvent]).require(store)
            if news_name(event) not in reported_before
        ],
    )


def note_sent_news(service: Service, message: RunMessage, news: Sequence[ServiceEvent]) -> None:
    """Notes that this news was sent, so that a run that goes on does not send it again."""
    store, keys = service.store, RunKeys(run_id=message.run_id)
    if news:
        names = sorted({*_sent_names(store, keys), *map(news_name, news)})
        _names_document(keys).put(store, names)


def _sent_names(store: RunStore, keys: RunKeys) -> frozenset[str]:
    return frozenset(_names_document(keys).get(store) or ())


def _names_document(keys: RunKeys) -> StoredDocument[list[str]]:
    return StoredDocument(keys.reported, list[str])


def _covered_pct(run: RunRecord, covered: Covered) -> float:
    """The places in scope that were read, in percent; 100 if there are none."""
    failed = run.failures.targets
    read = {str(target) for target in covered.targets} - failed.keys()
    return 100.0 * len(read) / (len(read) + len(failed)) if read or failed else 100.0


def _make_latest(store: RunStore, order: RunOrder) -> None:
    """Makes this the latest report, unless a later run has one: an earlier run may go on."""
    latest = latest_report(store)
    if latest is None or latest.now <= order.now:
        LATEST.put(store, LatestReport(run_id=order.run_id, now=order.now))


def _most_at_stake(count: int, store: RunStore, keys: RunKeys, shards: Sequence[int]) -> frozenset[str]:
    """The full names of the volumes with the most at stake, from each shard's."""
    stakes = (stakes_document(keys, number).get(store) or () for number in shards)
    return frozenset(name for *_, name in nlargest(count, chain.from_iterable(stakes)))


def _keep_tables(store: RunStore, keys: RunKeys, shards: Sequence[int]) -> None:
    """Puts the shards' lists one after the other, as the files of a run."""

    def files_named(name: str) -> Iterator[str]:
        return (keys.shard_file(number, name) for number in shards)

    lines = (line for key in files_named(RECOMMENDATIONS) for line in record_lines(store, key))
    store.put_pieces(keys.report(RECOMMENDATIONS), json_array(lines))
    rows = (row for key in files_named(TABLE) for row in islice(join_lines(store.pieces(key)), 1, None))
    head = csv_line(header()).encode(ENCODING)
    store.put_pieces(keys.report(TABLE), chain([head], (row + b"\n" for row in rows)))
    unanswered = (line + b"\n" for key in files_named(UNANSWERED) for line in join_lines(store.pieces(key)))
    store.put_pieces(keys.report(UNANSWERED), chain(unanswered, _lines_left_out(store, keys)))


def _lines_left_out(store: RunStore, keys: RunKeys) -> Iterator[bytes]:
    """The volumes of the targets and batches that failed as a whole."""
    for record in find_unanswered(store, keys, find_covered(store, keys)):
        yield record.model_dump_json().encode() + b"\n"


def _matched_records(store: RunStore, keys: RunKeys, shown: frozenset[str] | None) -> Iterator[Matched]:
    """Every recommendation, with the demand of those that are shown."""

    def is_shown(name: str) -> bool:
        return shown is None or name in shown

    for number in keys.combined_shards(store):
        records = records_in(store, keys.shard_file(number, RECOMMENDATIONS))
        yield from match_profiles(records, profiles_in(store, keys.shard_file(number, DEMAND), is_shown))


def _write_page(service: Service, order: RunOrder, run: RunRecord, shown: frozenset[str] | None, folder: Path) -> None:
    bring_measurements(service.store, service.measured)
    policy = order.parsed_policy
    which = (
        f"Here are the {len(shown or ()):,} of {run.volumes.answered:,} volumes with the most at stake; all of "
        f"them are in {TABLE} and {RECOMMENDATIONS} beside this report, and in the Parquet tables."
    )
    write_html(
        folder,
        folder / PAGE,
        matches=_matched_records(service.store, RunKeys(run_id=order.run_id), shown),
        envelopes=service.envelopes(service.measured),
        console_link=lambda record: service.console_link(record, policy, order.now),
        shown=None if shown is None else lambda record: full_name(record) in shown,
        shown_about="" if shown is None else which,
        called=Path(order.run_id),
    )
