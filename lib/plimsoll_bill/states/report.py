"""The states of a run: its places read, its volumes and their snapshots judged, and totals of both."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.common.answers import Deadline
from plimsoll.clouds.common.dated_data import given_prices
from plimsoll.clouds.published import types_by_cloud
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.kinds import CountsAs
from plimsoll.model.market import PriceBook
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.orders import Order
from plimsoll.ports import Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import matched_records, stream_records
from plimsoll.settings import Settings
from plimsoll_bill.states import rows
from plimsoll_bill.states.billed import BilledMonth
from plimsoll_bill.states.facts import PlaceFacts, SnapshotPrices
from plimsoll_bill.states.picture import PictureRow, draw_picture
from plimsoll_bill.states.reading import PlaceReader
from plimsoll_bill.states.rows import StateRecord
from plimsoll_bill.states.snapshots import find_state, judge_snapshots
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
    places, unread = _read_places(folder, order, scope, settings, keep_days)
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


def _read_places(
    folder: Path, order: Order, scope: Scope, settings: Settings, keep_days: float
) -> tuple[dict[str, PlaceFacts], dict[str, str]]:
    """The facts of a run's accounts and regions on AWS by name, and the reasons where there are none."""
    unused: dict[Target, list[str]] = {}
    for record in stream_records(folder):
        if record.provider == AWS:
            ids = unused.setdefault(Target(account=record.account, region=record.region), [])
            ids += [record.volume_id] if record.kind.money is CountsAs.COST else []
    if not unused:
        return {}, {}
    sessions, places, unread = sign_in(replace(scope, clouds=(AWS,), regions=()), settings), dict[str, PlaceFacts](), {}
    for target in sorted(unused):
        if target.account not in sessions.by_account:
            unread[str(target)] = "no credentials of the run's scope lead to this account now."
            unread |= {failure.name: str(failure.error) for failure in sessions.failed}
            continue
        place = places[str(target)] = PlaceFacts(account=target.account, region=target.region, now=order.now)
        asker = Asker(place=str(target), deadline=Deadline(seconds=settings.list_deadline_s))

        def client(service: str, target: Target = target) -> Any:
            return sessions.client(service, target.account, target.region)

        reader = PlaceReader(place, client, asker)
        reader.read()
        reader.read_sharing(_deletable(place, keep_days))
        reader.read_last_uses(unused[target])
    return places, unread


def _deletable(place: PlaceFacts, keep_days: float) -> Iterator[str]:
    """The snapshots that are in a state, and their images: it must be known with whom they are shared."""
    for snap in (place.snapshots or {}).values():
        if find_state(place, snap, keep_days) is not None:
            yield snap.id
            yield from (image.id for image in (place.images or {}).values() if snap.id in image.snapshot_ids)


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
