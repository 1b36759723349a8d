"""Places: where a volume is, and the ports and the desk of one target."""

import logging
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.targets import may_have, named_target
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget, Target
from plimsoll.service.kept import ledger_in
from plimsoll.service.measured import bring
from plimsoll.service.service import Service
from plimsoll.service.validating.work import Work
from plimsoll.validation.desk import Desk
from plimsoll.validation.patience import Patience

_log = logging.getLogger(__name__)


def patience_of(service: Service) -> Patience:
    """How long each step may take."""
    return Patience.of(service.settings, now=service.clock.now, pause=service.pause)


def world_at(place: Target, now: datetime, service: Service) -> AuditPorts:
    """The ports of a target as of that time, with all that has been measured by now, which is brought here."""
    bring(service.store, service.measured)
    with TemporaryDirectory() as folder:
        changes = ledger_in(service.store, place, Path(folder))
        return service.places.ports(place, now=now, measured=service.measured, ledger=changes)


def placed(name: str, now: datetime, service: Service) -> tuple[Target, str]:
    """Where a volume is, and its id, by its name: account/region/id as it says; an id alone is searched for in every
    target that may have it, one after the other. BadInput where it is nowhere, CloudError where a target cannot be
    searched."""
    *place, volume_id = name.split("/")
    return named_target(place[0], place[1]) if place else _found(volume_id, now, service), volume_id


def _found(volume_id: str, now: datetime, service: Service) -> Target:
    unsearched: CloudError | None = None
    for target in service.places.targets():
        try:
            if isinstance(target, FailedTarget):
                raise target.error
            if not may_have(target, volume_id):
                continue
            ports = world_at(target, now, service)
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


def desk_at(work: Work, ports: AuditPorts, service: Service, folder: Path | None = None) -> Desk:
    """What a step works with at the work's target; campaigns are added to that folder, by default where all are that
    were brought here. Nothing is noted in its book: verdicts are kept in the store."""
    settings, measured = service.settings, folder or service.measured
    return Desk(
        bench=service.places.bench(work.place),
        book=ValidationBook(folder=measured),
        claims=service.claims,
        measured_dir=measured,
        provider=ports.catalog.provider,
        types=ports.catalog.types,
        policy=service.config.parsed_policy,
        patience=patience_of(service),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        new_id=lambda: work.name.scratch_id,
        tell=_log.info,
        host_ids=service.config.validation.bench_hosts,
        in_place_file_mib=settings.in_place_file_mib,
    )
