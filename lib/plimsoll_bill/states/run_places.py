"""The places of a run: the facts of its accounts and regions on AWS, read by the sessions of its audit."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.common.answers import Deadline
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.kinds import CountsAs
from plimsoll.orders import Order
from plimsoll.ports import Target
from plimsoll.reports.run_reader import stream_records
from plimsoll.settings import Settings
from plimsoll_bill.states.facts import PlaceFacts
from plimsoll_bill.states.reading import PlaceReader
from plimsoll_bill.states.snapshots import find_state


def read_run_places(
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
