"""The places of a run: the facts of its accounts and regions on AWS, read by the sessions of its audit."""

from pathlib import Path

from plimsoll.clouds.aws.asset_reader import open_readers
from plimsoll.clouds.aws.assets import PlaceFacts
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.kinds import CountsAs
from plimsoll.orders import Order
from plimsoll.ports import Target
from plimsoll.reports.run_reader import stream_records
from plimsoll.settings import Settings
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
    readers, unread = open_readers(scope, unused, settings, order.now) if unused else ({}, {})
    for target, volume_ids in unused.items():
        reader = readers.get(str(target))
        if reader is not None:
            reader.read()
            known = (reader.place.snapshots or {}).items()
            reader.read_sharing(name for name, snap in known if find_state(reader.place, snap, keep_days) is not None)
            reader.read_last_uses(volume_ids)
    return {name: reader.place for name, reader in readers.items()}, unread
