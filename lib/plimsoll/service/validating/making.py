"""Making: a work's scratch volume, made and attached, each of it once however often it is asked for."""

from plimsoll.domain.errors import BadInput
from plimsoll.service.service import Service
from plimsoll.service.validating.messages import Worked
from plimsoll.service.validating.work import Work, WorkName, keep, load


def create_scratch(service: Service, name: WorkName) -> Worked:
    """Begins to make the scratch volume of what was proposed; the same order gives the same volume. CloudError."""
    work = load(name.key, service.store)
    begun = work.under_way
    if begun.prepared.order is None:
        raise BadInput(f"{work.volume_id} is measured in place: there is no scratch volume to make.")
    if begun.volume_id is None:
        work = keep(work.having(creating=begun.creating or service.clock.now()), service.store)
        made = service.places.bench(work.place).create(begun.prepared.order)
        keep(work.having(volume_id=made), service.store)
    return Worked(work=name.key)


def attach_scratch(service: Service, name: WorkName) -> Worked:
    """Begins to attach the scratch volume to the bench host; attached already is no error. CloudError."""
    work = load(name.key, service.store)
    begun = work.under_way
    work = keep(work.having(attaching=begun.attaching or service.clock.now()), service.store)
    service.places.bench(work.place).attach(work.place, made_for(work), begun.prepared.host.host.id)
    return Worked(work=name.key)


def made_for(work: Work) -> str:
    """The scratch volume of a work; BadInput where none was made."""
    volume_id = work.under_way.volume_id
    if volume_id is None:
        raise BadInput(f"no scratch volume was made for {work.name.key}: create it first.")
    return volume_id
