"""Concluding: the verdict on what a work measured, kept and told, and what is recommended since."""

from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.errors import BadInput
from plimsoll.service import measured as library
from plimsoll.service.events import validation_completed
from plimsoll.service.service import Service
from plimsoll.service.validating.deciding import decided_again
from plimsoll.service.validating.looking import command_of
from plimsoll.service.validating.messages import Concluded
from plimsoll.service.validating.places import desk_at, world_at
from plimsoll.service.validating.work import Work, WorkName, keep, load
from plimsoll.validation.keeping import conclude as judge
from plimsoll.validation.measuring import Measured


def conclude(service: Service, name: WorkName) -> Concluded:
    """Judges what was measured, adds it to the library, tells everybody who listens, and decides again.

    Each of that once, however often it is asked for. NotMeasured where nothing can be concluded; CloudError.
    """
    work = load(name.key, service.store)
    if work.round is None and work.lines:
        return _answer(work)
    work = keep(work.having(judged=work.under_way.judged or service.clock.now()), service.store)
    with TemporaryDirectory() as folder:
        line = _judged(work, service, Path(folder))
        library.keep(service.store, Path(folder), line)
    work.release(service.claims)
    work = _told(work, line, service)
    work = keep(decided_again(work, work.under_way.run, line, service), service.store)
    return _answer(work)


def _judged(work: Work, service: Service, folder: Path) -> ValidationLine:
    """The verdict, with its campaign in that folder: the same however often it is made."""
    begun, prepared = work.under_way, work.under_way.prepared
    desk = desk_at(work, world_at(work.place, work.now, service), service, folder)
    if begun.outcome is None or begun.judged is None:
        raise BadInput(f"the command of {work.name.key} has not ended: look at it until it has.")
    paid_s = ((begun.cleaned or begun.judged) - prepared.began).total_seconds()
    measured = Measured(
        answer=command_of(work).answer(begun.outcome),
        host=prepared.host,
        at=begun.judged,
        seconds=0.0 if prepared.order is None else paid_s,
        volumes=prepared.volumes,
    )
    return judge(
        begun.run,
        begun.subject,
        work.mode,
        measured,
        desk,
        validation_id=f"{work.name.scratch_id}-{begun.number}",
        key=work.claim_on(begun.run),
        usd_month=begun.usd_month,
    )


def _told(work: Work, line: ValidationLine, service: Service) -> Work:
    if work.under_way.told:
        return work
    service.events.send([validation_completed(line)])
    return keep(work.having(told=True), service.store)


def _answer(work: Work) -> Concluded:
    last = work.lines[-1]
    return Concluded(work=work.name.key, again=work.following is not None, passed=last.passed, campaign=last.campaign)
