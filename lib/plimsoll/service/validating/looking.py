"""Looking: whether what a work waits for is there yet, or has taken too long."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.service.service import Service
from plimsoll.service.validating.making import made_for
from plimsoll.service.validating.messages import Looked
from plimsoll.service.validating.places import patience_of
from plimsoll.service.validating.work import Work, WorkName, keep, load
from plimsoll.validation.scratch_volume import Awaited, attached, made
from plimsoll.validation.tasks import Command, command_s


def look(service: Service, name: WorkName, at: str) -> Looked:
    """Looks once at the work's `volume`, its `attachment` or its `command`, and says whether that is there, or ended.

    NotMeasured where it has taken longer than it may, or ended badly; CloudError where it cannot be looked at, of a
    command only after several looks in a row have failed.
    """
    return Looked(work=name.key, ready=_LOOKS[at](load(name.key, service.store), service))


def command_of(work: Work) -> Command:
    """The command that was sent for a work; BadInput where none was."""
    begun = work.under_way
    if begun.command_id is None:
        raise BadInput(f"no command was sent for {work.name.key}: send it first.")
    return Command(
        id=begun.command_id,
        target=work.place,
        host_id=begun.prepared.host.host.id,
        failed_looks=begun.failed_looks,
    )


def _at_volume(work: Work, service: Service) -> bool:
    return _arrived(work, made(patience_of(service)), work.under_way.creating, service)


def _at_attachment(work: Work, service: Service) -> bool:
    host_id = work.under_way.prepared.host.host.id
    return _arrived(work, attached(host_id, patience_of(service)), work.under_way.attaching, service)


def _arrived(work: Work, awaited: Awaited, since: datetime | None, service: Service) -> bool:
    volume_id = made_for(work)
    if awaited.is_there(volume_id, work.place, bench=service.places.bench(work.place)):
        return True
    patience_of(service).check(
        since or service.clock.now(), limit_s=awaited.limit_s, otherwise=awaited.overdue(volume_id)
    )
    return False


def _at_command(work: Work, service: Service) -> bool:
    begun = work.under_way
    if begun.outcome is None:
        work = _looked_at(work, service)
        begun = work.under_way
    if begun.outcome is not None:
        command_of(work).answer(begun.outcome)
        return True
    patience, command = patience_of(service), command_of(work)
    limit_s = command_s(begun.prepared.task, patience)
    patience.check(begun.sending or service.clock.now(), limit_s=limit_s, otherwise=command.overdue(limit_s))
    return False


def _looked_at(work: Work, service: Service) -> Work:
    """The work after one look at its command, which is kept whatever it finds."""
    command, bench = command_of(work), service.places.bench(work.place)
    try:
        outcome = command.look(bench)
    except CloudError:
        keep(work.having(failed_looks=command.failed_looks), service.store)
        raise
    return keep(work.having(failed_looks=command.failed_looks, outcome=outcome), service.store)


_LOOKS: Final[Mapping[str, Callable[[Work, Service], bool]]] = {
    "volume": _at_volume,
    "attachment": _at_attachment,
    "command": _at_command,
}
