"""Cleaning up after a work, however it ended: nothing of it is left on the bench."""

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget, Target
from plimsoll.service.messages import StepError
from plimsoll.service.service import Service
from plimsoll.service.validating.looking import command_of
from plimsoll.service.validating.messages import Cleaned
from plimsoll.service.validating.places import patience_of
from plimsoll.service.validating.work import Work, WorkName, find, keep
from plimsoll.validation.scratch_volume import clean


def clean_up(service: Service, name: WorkName, error: StepError | None = None) -> Cleaned:
    """Stops what runs, and deletes every scratch volume of a work, by its tag: whatever its document says or lacks.

    What cannot be deleted is `left`, and the sweep has it from its deadline on: what was measured on it is as good as
    if it were gone. With an `error` the work has failed: that is noted, its class and its host are free again, and a
    CloudError says what is left, so that this is tried again.
    """
    work = _known(name, service)
    if work is not None:
        _stop(work, service)
        if error is not None:
            work = _failed(work, error, service)
    left = [text for place in _places(work, service) for text in _left_at(place, name, service)]
    if left and error is not None:
        raise CloudError(" ".join(left))
    if work is not None and work.round is not None:
        keep(work.having(cleaned=work.round.cleaned or service.clock.now()), service.store)
    return Cleaned(work=name.key, left=left)


def _known(name: WorkName, service: Service) -> Work | None:
    try:
        return find(name, service.store)
    except BadInput:
        return None  # what is left of it on the bench is found by its tag all the same


def _stop(work: Work, service: Service) -> None:
    """Asks a command that has not ended to stop."""
    if work.round is not None and work.round.command_id is not None and work.round.outcome is None:
        command_of(work).give_up(service.places.bench(work.place))


def _failed(work: Work, error: StepError, service: Service) -> Work:
    work.release(service.claims)
    return keep(replace(work, note=error.sentence, claimed=None, claimed_host=None), service.store)


def _places(work: Work | None, service: Service) -> Iterator[Target | FailedTarget]:
    """Where the work may have left something: everywhere, where it is not known."""
    if work is None:
        yield from service.places.targets()
    else:
        yield work.place


def _left_at(place: Target | FailedTarget, name: WorkName, service: Service) -> Iterator[str]:
    if isinstance(place, FailedTarget):
        yield str(place.error)
        return
    for one in clean(name.scratch_id, place, bench=service.places.bench(place), patience=patience_of(service)):
        yield one.text
