"""The states of a run: its places read, its volumes and their snapshots judged, and totals of both."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from plimsoll.clouds.common.dated_data import given_prices
from plimsoll.clouds.published import types_by_cloud
from plimsoll.clouds.scope import Scope
from plimsoll.model.market import PriceBook
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.orders import Order
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import matched_records
from plimsoll.settings import Settings
from plimsoll_bill.states import rows
from plimsoll_bill.states.billed import BilledMonth
from plimsoll_bill.states.facts import PlaceFacts, SnapshotPrices
from plimsoll_bill.states.picture import PictureRow, draw_picture
from plimsoll_bill.states.rows import StateRecord
from plimsoll_bill.states.run_places import read_run_places
from plimsoll_bill.states.snapshots import judge_snapshots
from plimsoll_bill.states.volumes import judge_volume

NO_PRICES: Final = SnapshotPrices()
SAME_SHARE: Final = 0.01
"""A price file and a run's own price of the same volume differ by no more, or the file's prices are not the run's."""


@dataclass(slots=True, kw_only=True)
class StatesReport:
    """All that is in a state, the picture of what is paid, and why something was not read."""

    records: list[StateRecord] = field(default_factory=list)
    picture: list[PictureRow] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> dict[str, Any]:
        """The same in plain values."""
        return {
            "states": [record.model_dump(mode="json") for record in self.records],
            "picture": [row.plain for row in self.picture],
            "unread": self.unread,
        }


def snapshot_prices() -> Mapping[str, SnapshotPrices]:
    """The dated list prices of snapshots by region."""
    path = Path(__file__).parent.parent / "data" / "snapshot_prices.yaml"
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {region: SnapshotPrices(**figures) for region, figures in written["regions"].items()}


def report_states(
    folder: Path, order: Order, scope: Scope, settings: Settings, *, keep_days: float, billed: BilledMonth | None = None
) -> StatesReport:
    """The states of a run's volumes and of their places' snapshots, by the sessions of its audit."""
    places, unread = read_run_places(folder, order, scope, settings, keep_days)
    report = judge_run(folder, order.policy, places, scope, order=order, keep_days=keep_days, billed=billed)
    report.unread = unread | {
        f"{name}: {call}": why for name, place in places.items() for call, why in place.unread.items()
    }
    return report


def judge_run(
    folder: Path,
    policy: Policy,
    places: Mapping[str, PlaceFacts],
    scope: Scope,
    *,
    order: Order,
    keep_days: float,
    billed: BilledMonth | None = None,
) -> StatesReport:
    """The states by facts that are read already, by the places' names."""
    prices, report, paid = snapshot_prices(), StatesReport(), list[RecommendationRecord]()
    for record, profile in matched_records(folder, None):
        paid.append(record)
        state = judge_volume(
            record,
            profile,
            places.get(f"{record.account}/{record.region}"),
            now=order.now,
            policy=policy,
            book=_book_for(record, scope, policy),
            types=types_by_cloud().get(record.provider, {}),
            prices=prices.get(record.region, NO_PRICES),
        )
        if state is not None:
            report.records.append(state)
    for place in places.values():
        if billed is not None:
            billed.add_to(place)
        report.records += judge_snapshots(place, prices.get(place.region, NO_PRICES), keep_days, policy.idle_days)
    report.records.sort(key=lambda record: (-(record.monthly_usd_saved_most or 0.0), record.state, record.ids))
    report.picture = draw_picture(paid, report.records, None if billed is None else billed.cents)
    return report


def _book_for(record: RecommendationRecord, scope: Scope, policy: Policy) -> PriceBook | None:
    """The prices of a volume's region; None if they are not those that the run priced it by."""
    book = given_prices(scope.prices, record.provider).book(record.region)
    if book is None or record.monthly_usd_now is None:
        return None
    book = replace(book, discounts_pct=policy.discounts_pct)
    current = record.current
    spec = VolumeSpec(
        type=current.type, size_gib=current.size_gib, iops=current.iops, throughput_mib_s=current.throughput_mib_s
    )
    usd = book.usd_month(spec)
    if usd is None or abs(usd - record.monthly_usd_now) > max(0.01, SAME_SHARE * record.monthly_usd_now):
        return None
    return book


def count_by_state(records: Iterable[StateRecord]) -> Iterator[tuple[str, int, float, float, float]]:
    """Each state in the order of its table: its words, lines, and USD a month paid, and saved least and most."""
    records = list(records)
    for state in sorted(rows.STATE_ROWS.values(), key=lambda state: state.rank):
        group = [record for record in records if record.state == state.name]
        if group:
            yield (
                state.words,
                len(group),
                _sum(record.monthly_usd for record in group),
                _sum(record.monthly_usd_saved_least for record in group),
                _sum(record.monthly_usd_saved_most for record in group),
            )


def _sum(amounts: Iterable[float | None]) -> float:
    return round(sum(amount for amount in amounts if amount is not None), 2)
