"""Sending: the command that measures, once and never twice."""

from plimsoll.domain.errors import CloudError, NotMeasured, Unexpected, Unreachable
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import Worked
from plimsoll.service.validating.work import WorkName, keep, load


def sending_of(service: Service, name: WorkName) -> dict[str, str | int]:
    """What is to be sent once: the command of that work's present measurement."""
    return {"work": name.key, "round": load(name.key, service.store).under_way.number}


def send_command(service: Service, name: WorkName) -> Worked:
    """Sends the command of a work, unless that was done. CloudError where it was not sent; NotMeasured where an earlier
    attempt left open whether it was."""
    work = load(name.key, service.store)
    begun = work.under_way
    if begun.command_id is not None:
        return Worked(work=name.key)
    host_id = begun.prepared.host.host.id
    if begun.sending is not None:
        raise NotMeasured(
            f"the command for {host_id} in {work.place} may have been sent already: its answer was lost. It is not "
            "sent twice; validate again."
        )
    prepared = begun.prepared
    task = prepared.task if begun.volume_id is None else prepared.on(begun.volume_id)
    work = keep(work.having(sending=service.clock.now()), service.store)
    try:
        command_id = service.places.bench(work.place).send(work.place, host_id, task)
    except CloudError as error:
        if not isinstance(error, Unreachable | Unexpected):  # with these it may have arrived
            keep(work.having(sending=None), service.store)
        raise
    keep(work.having(command_id=command_id), service.store)
    return Worked(work=name.key)
