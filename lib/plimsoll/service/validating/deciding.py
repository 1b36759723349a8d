"""Deciding: what is recommended of a work's volume with all that has been measured by now, and what follows from it."""

from dataclasses import replace

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.validation import MeasuringRun, within
from plimsoll.explain import explain
from plimsoll.ports import Prices
from plimsoll.reports.recorded import record_of
from plimsoll.service.service import Service
from plimsoll.service.validating.places import desk_at, world_at
from plimsoll.service.validating.work import Work
from plimsoll.validation.desk import Desk
from plimsoll.validation.planning import next_run, planned, rest_of
from plimsoll.validation.proposal import Weighed, weighed


def decided(work: Work, ports: AuditPorts, service: Service) -> Weighed:
    """What is decided of the work's volume; BadInput or NotMeasured where nothing can be validated by it."""
    return weighed(explain(ports, work.volume_id, service.config.parsed_policy, work.now), work.volume_id)


def decided_again(work: Work, run: MeasuringRun, line: ValidationLine, service: Service) -> Work:
    """The work with a verdict on a run, and with what is recommended and measured next now that it is known.

    What else the measurement serves is decided again by the next audit.
    """
    ports = world_at(work.place, work.now, service)
    desk = desk_at(work, ports, service)
    found = decided(work, ports, service)
    known = replace(
        work,
        lines=(*work.lines, line),
        tried=(*work.tried, run.class_key),
        after=record_of(found.answer, provider=work.place.provider),
        round=None,
        claimed=None,
        claimed_host=None,
        waiting_since=None,
    )
    following = next_run(found, work.mode, known.tried, desk)
    if following is not None and not is_allowed(following, known, ports.prices, desk):
        following = None
    return replace(known, following=following)


def is_allowed(run: MeasuringRun, work: Work, prices: Prices, desk: Desk) -> bool:
    """Whether what is left of the work's budget allows a run."""
    rest = rest_of(work.budget, usd=work.usd, runs=len(work.tried))
    return bool(within([run], lambda one: planned(one, work.mode, prices, desk).usd or 0.0, rest)[0])
