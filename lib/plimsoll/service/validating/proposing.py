"""Proposing: what is measured next for a work, on which host and by which job; or that nothing more is."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.validation import MeasuringRun
from plimsoll.ports import BenchHost
from plimsoll.reports.recorded import record_of
from plimsoll.service.measured import verdicts_in
from plimsoll.service.service import Service
from plimsoll.service.validating.deciding import decided, decided_again, is_allowed
from plimsoll.service.validating.messages import Proposed
from plimsoll.service.validating.places import desk_at, patience_of, world_at
from plimsoll.service.validating.work import Round, Work, WorkName, keep, load
from plimsoll.validation.carrying_out import CLAIMED
from plimsoll.validation.desk import Desk
from plimsoll.validation.jobs import expected_seconds
from plimsoll.validation.planning import usd_month_of
from plimsoll.validation.preparing import Prepared, prepare
from plimsoll.validation.proposal import subject_of, wanted

NO_BUDGET: Final = "nothing was measured: the budget allows no run of it. Allow more with validation.max_usd."

BUSY: Final = "the bench host has been measuring for other validations all the time: try again, or tag another host."


def propose(service: Service, name: WorkName) -> Proposed:
    """Decides what is measured next for a work, and prepares it; what is prepared already stays as it is.

    It waits while another measures the same class, whose verdict then is taken, or on the same host. BadInput,
    NotMeasured or CloudError where there is nothing to measure, or nothing to measure with.
    """
    work = load(name.key, service.store)
    if work.round is not None:
        return _begun(work, work.round)
    if work.tried and work.following is None:
        return Proposed(work=name.key, next="done")
    if _is_anothers(work, service):  # then nothing need be read again
        return Proposed(work=name.key, next="wait")
    return _proposed(work, service)


def _proposed(work: Work, service: Service) -> Proposed:
    world = world_at(work.place, work.now, service)
    desk = desk_at(work, world, service)
    found = decided(work, world, service)
    run = work.following or wanted(found, work.asked, work.mode, desk.types)
    work = replace(work, before=work.before or record_of(found.answer, provider=work.place.provider), following=run)
    if not is_allowed(run, work, world.prices, desk):
        keep(replace(work, note=NO_BUDGET), service.store)
        return Proposed(work=work.name.key, next="done")
    work, is_ours = _claim(work, run, desk, service)
    if not is_ours:
        return Proposed(work=work.name.key, next="wait")
    shared = _shared(work, service)
    if shared is not None:
        work.release(service.claims)
        keep(decided_again(work, run, shared, service), service.store)
        return propose(service, work.name)
    subject = subject_of(found, run, desk=desk, policy=desk.policy, now=work.now)
    prepared = prepare(run, subject, work.mode, replace(desk, is_free=lambda host: _is_free(host, work, service)))
    work, is_ours = _claim_host(work, prepared, desk, service)
    if not is_ours:
        return Proposed(work=work.name.key, next="wait")
    begun = Round(
        number=len(work.tried) + 1,
        run=run,
        subject=subject,
        prepared=prepared,
        usd_month=usd_month_of(run, world.prices, desk),
    )
    keep(replace(work, round=begun), service.store)
    return _begun(work, begun)


def _begun(work: Work, begun: Round) -> Proposed:
    return Proposed(work=work.name.key, next="send" if begun.prepared.order is None else "create")


def _claim(work: Work, run: MeasuringRun, desk: Desk, service: Service) -> tuple[Work, bool]:
    """Claims the class of a run for as long as it can take, and says whether it is the work's.

    It is noted first, so that the clean-up knows what to release whatever happens.
    """
    now, key = service.clock.now(), work.claim_on(run)
    work = keep(replace(work, claimed=key, waiting_since=work.waiting_since or now), service.store)
    longest = desk.patience.longest(expected_seconds(run, work.mode, desk) + desk.patience.setting_up_s)
    until = now + max(timedelta(hours=desk.policy.scratch_hours), longest)
    return work, service.claims.claim(key, work.name.holder, until, now)


def _claim_host(work: Work, prepared: Prepared, desk: Desk, service: Service) -> tuple[Work, bool]:
    """Claims the host of what is prepared as `_claim` does a class; a host that was waited for before is given up."""
    now, key = service.clock.now(), _host_key(prepared.host)
    if work.claimed_host not in {None, key}:
        service.claims.release(str(work.claimed_host), work.name.holder)
    work = keep(replace(work, claimed_host=key), service.store)
    until = now + desk.patience.longest(prepared.task.limit_s)
    return work, service.claims.claim(key, work.name.holder, until, now)


def _host_key(host: BenchHost) -> str:
    return f"host/{host.account}/{host.region}/{host.host.id}"


def _is_free(host: BenchHost, work: Work, service: Service) -> bool:
    return service.claims.holder(_host_key(host), service.clock.now()) in {None, work.name.holder}


def _is_anothers(work: Work, service: Service) -> bool:
    """Whether another still has what the work waits for; NotMeasured where it has it for too long."""
    if work.waiting_since is None:
        return False
    now = service.clock.now()
    others = [key for key in work.claims if service.claims.holder(key, now) not in {None, work.name.holder}]
    if not others:
        return False
    patience, otherwise = patience_of(service), CLAIMED if work.claimed in others else BUSY
    patience.check(work.waiting_since, limit_s=patience.claim_s, otherwise=otherwise)
    return True


def _shared(work: Work, service: Service) -> ValidationLine | None:
    """The verdict that another gave on the class while the work waited for it."""
    since = work.waiting_since or service.clock.now()
    found = [line for line in verdicts_in(service.store) if line.class_key == work.claimed and line.at >= since]
    return found[-1] if found else None
