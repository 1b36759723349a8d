"""The ports of one target as the service has them, and the search for a volume's target."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.targets import may_have, named_target
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget, RunStore, Target
from plimsoll_service.service import Service, every_target
from plimsoll_service.shared_measurements import bring_measurements
from plimsoll_service.store_keys import ledger_key


def ledger_in(store: RunStore, target: Target, folder: Path) -> Ledger:
    """The ledger of a target's changes, in a file of that folder. Raises BadInput if it is damaged."""
    path, key = folder / "ledger.json", ledger_key(target)
    store.get_file(key, path)
    try:
        return Ledger.at(path)
    except BadInput as error:
        raise BadInput(
            f"the ledger of changes {key} in the store is damaged: delete it, and a new one is begun."
        ) from error


def ports_at(place: Target, now: datetime, service: Service) -> AuditPorts:
    """The ports of a target as of a time, with all measurements, which are brought here."""
    bring_measurements(service.store, service.measured)
    with TemporaryDirectory() as folder:
        changes = ledger_in(service.store, place, Path(folder))
        return service.places.ports(place, now=now, measured=service.measured, ledger=changes)


def find_place(name: str, now: datetime, service: Service) -> tuple[Target, str]:
    """The target and id of a volume by its name: account/region/id, or an id alone.

    An id alone is searched for in every target that may have it, one after the other. Raises BadInput if it is nowhere,
    CloudError if a target cannot be searched.
    """
    *place, volume_id = name.split("/")
    return named_target(place[0], place[1]) if place else _search_targets(volume_id, now, service), volume_id


def _search_targets(volume_id: str, now: datetime, service: Service) -> Target:
    unsearched: CloudError | None = None
    for target in every_target(service.places):
        try:
            if isinstance(target, FailedTarget):
                raise target.error
            if not may_have(target, volume_id):
                continue
            ports = ports_at(target, now, service)
            if any(volume.id == volume_id for volume in ports.inventory.volumes(target)):
                return target
        except CloudError as error:
            unsearched = unsearched or error
    if unsearched is not None:
        raise unsearched
    raise BadInput(
        f"there is no volume {volume_id} in the accounts and regions of this service: see its configuration, or begin "
        "it as account/region/volume-id."
    )
