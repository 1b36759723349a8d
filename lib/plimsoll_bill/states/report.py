"""The states of a run: its volumes and their places' snapshots judged, and the picture of what is paid."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from plimsoll.clouds.aws.assets import PlaceFacts
from plimsoll.clouds.aws.snapshot_chains import price_snapshots
from plimsoll.clouds.common.dated_data import given_prices
from plimsoll.clouds.published import types_by_cloud
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.files import write_lines
from plimsoll.orders import Order
from plimsoll.reports.csv_table import ENCODING, model_lines
from plimsoll.reports.record import StateRecord
from plimsoll.reports.run_files import STATES_FILE, STATES_TABLE
from plimsoll.reports.run_folder import has_ended, note_in_run
from plimsoll.reports.run_reader import matched_records, stream_records
from plimsoll.reports.run_record import PaidRecord
from plimsoll.reports.totals import sum_states
from plimsoll_bill.states.billed import BilledMonth
from plimsoll_bill.states.picture import draw_picture
from plimsoll_bill.states.snapshots import judge_snapshots
from plimsoll_bill.states.volumes import VolumeSubject, judge_volume


@dataclass(slots=True, kw_only=True)
class StatesReport:
    """All that is in a state, the picture of what is paid, and why something was not read."""

    states: list[StateRecord] = field(default_factory=list)
    picture: list[PaidRecord] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)


def judge_run(
    folder: Path,
    order: Order,
    places: Mapping[str, PlaceFacts],
    scope: Scope,
    *,
    keep_days: float,
    billed: BilledMonth | None = None,
) -> StatesReport:
    """The states by facts that are read already, by the places' names."""
    if billed is not None:
        places = {name: billed.add_to(place) for name, place in places.items()}
    report, costs, types = StatesReport(), list[tuple[str, float | None]](), types_by_cloud()
    prices = {cloud: given_prices(scope.prices, cloud) for cloud in types}
    for record, profile in matched_records(folder, None):
        subject = VolumeSubject(
            record=record,
            profile=profile,
            place=places.get(f"{record.account}/{record.region}"),
            policy=order.policy,
            now=order.now,
            types=types.get(record.provider, {}),
            listed=prices[record.provider].book(record.region) if record.provider in prices else None,
        )
        state = judge_volume(subject)
        report.states += [] if state is None else [state]
    for place in places.values():
        of_snapshots = prices[AWS].snapshots(place.region)
        report.states += judge_snapshots(place, of_snapshots, keep_days, order.policy.idle_days)
        costs += price_snapshots(place, of_snapshots)
    report.states.sort(key=lambda record: (-(record.monthly_usd_saved_most or 0.0), record.state, record.ids))
    report.picture = draw_picture(stream_records(folder), report.states, costs, billed)
    report.unread = {f"{name}: {call}": why for name, place in places.items() for call, why in place.unread.items()}
    return report


def note_states(folder: Path, report: StatesReport) -> None:
    """Writes states.json and states.csv into a run's folder, and notes their sums in the run.json of an ended run."""
    write_lines(state_json_lines(report), folder / STATES_FILE, "utf-8")
    write_lines(model_lines(StateRecord, report.states), folder / STATES_TABLE, ENCODING)
    if has_ended(folder):
        note_in_run(folder, paid=_plain(report.picture), states=_plain(sum_states(report.states)))


def state_json_lines(report: StatesReport) -> Iterator[str]:
    """The report as JSON."""
    plain = {"states": _plain(report.states), "picture": _plain(report.picture), "unread": report.unread}
    yield json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def _plain(rows: Iterable[BaseModel]) -> list[dict[str, Any]]:
    return [row.model_dump(mode="json") for row in rows]
