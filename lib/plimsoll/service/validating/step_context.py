"""What the steps of a validation are given: where a volume is, the ports of its target, and the context of a step."""

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.published import published_types
from plimsoll.clouds.targets import may_have, named_target
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget, Target
from plimsoll.service.events import validation_completed
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import StoreVerdicts, bring
from plimsoll.service.stored_results import ledger_in
from plimsoll.validation.context import Context
from plimsoll.validation.patience import Patience
from plimsoll.validation.scratch_volume import Left

_log = logging.getLogger(__name__)


def patience_of(service: Service) -> Patience:
    """How long each step may take."""
    return Patience.of(service.settings, now=service.clock.now, pause=service.pause)


def ports_at(place: Target, now: datetime, service: Service) -> AuditPorts:
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


def context_of(service: Service, left: Callable[[Left], None] = lambda _left: None) -> Context:
    """What the steps of a validation are given; `left` hears what could not be deleted."""
    settings = service.settings
    return Context(
        bench=service.places.bench,
        ports=lambda place, now: ports_at(place, now, service),
        types=published_types(),
        verdicts=StoreVerdicts(service.store),
        claims=service.claims,
        jobs=service.store,
        policy=service.config.parsed_policy,
        patience=patience_of(service),
        runtime_s=settings.benchmark_runtime_s,
        ramp_s=settings.benchmark_ramp_s,
        say=_log.info,
        host_ids=service.config.validation.bench_hosts,
        in_place_file_mib=settings.in_place_file_mib,
        report=lambda line: service.events.send([validation_completed(line)]),
        left=left,
    )
