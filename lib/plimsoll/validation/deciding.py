"""Deciding: what is recommended of a job's volume with all that has been measured by now, and what is measured next."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from plimsoll.domain.evidence import Grade
from plimsoll.domain.recommendation import Change
from plimsoll.domain.validation import Budget, MeasuringRun, Mode, PlannedRun, usd_for, within
from plimsoll.domain.volume_types import VolumeType
from plimsoll.explain import explain
from plimsoll.ports import Prices, Target
from plimsoll.reports.to_record import record_of
from plimsoll.validation.context import Context
from plimsoll.validation.fio_job import expected_seconds
from plimsoll.validation.job import Job, Proposal
from plimsoll.validation.proposal import Weighed, subject_of, wanted, weighed

MOST_ATTEMPTS: Final = 3
"""How often a new answer is measured in turn before the rest is left as it is."""

NO_BUDGET: Final = "nothing was measured: the budget allows no run of it. Allow more with validation.max_usd."


def decide(job: Job, context: Context) -> Job:
    """Decides the job's volume, and which run comes next within its budget; the first plan has to be agreed to.

    What else a measurement serves is decided again by whoever has all of it. BadInput or NotMeasured where nothing can
    be validated; CloudError.
    """
    if not job.to_decide:
        return job
    ports = context.ports(job.place, job.now)
    found = weighed(explain(ports, job.volume_id, context.policy, job.now), job.volume_id)
    record = record_of(found.answer, provider=job.place.provider)
    types = ports.catalog.types
    place = replace(job.place, account=found.volume.account, region=found.volume.region)
    known = replace(job, place=place, to_decide=False, before=job.before or record)
    if job.tried:
        run = next_run(found, job, types)
        known = replace(known, after=record)
    else:
        run = job.following or wanted(found, job.asked, job.mode, types)
        known = replace(known, asked_spec=None if job.asked is None else run.spec)
    if run is not None:
        known = _proposed(known, run, found, usd_month_of(run, place, ports.prices), context)
    return context.keep(known)


def planned(run: MeasuringRun, mode: Mode, usd_month: float | None, context: Context) -> PlannedRun:
    """The run with its cost, by its list price, and its time; what is measured in place costs nothing."""
    seconds = expected_seconds(run, mode, context)
    usd = None if usd_month is None else usd_for(usd_month, seconds)
    return PlannedRun(run=run, usd=0.0 if mode is Mode.IN_PLACE else usd, seconds=seconds)


def usd_month_of(run: MeasuringRun, place: Target, prices: Prices) -> float | None:
    """The list price of a run's spec where it would be made, None where none is known."""
    book = prices.book(place)
    return None if book is None else book.usd_month(run.spec)


def rest_of(budget: Budget, *, usd: float, runs: int) -> Budget:
    """What is left of a budget when so much has been spent and so many runs were made."""
    return Budget(
        max_usd=None if budget.max_usd is None else budget.max_usd - usd,
        max_runs=None if budget.max_runs is None else budget.max_runs - runs,
    )


def next_run(found: Weighed, job: Job, types: Mapping[str, VolumeType]) -> MeasuringRun | None:
    """The run for what is recommended now, None where nothing new is, or where it is proved already."""
    if job.mode is Mode.IN_PLACE or not isinstance(found.answer, Change) or found.answer.evidence.grade is Grade.A:
        return None
    run = wanted(found, None, job.mode, types)
    return None if run.class_key in job.tried or len(job.tried) >= MOST_ATTEMPTS else run


def _proposed(job: Job, run: MeasuringRun, found: Weighed, usd_month: float | None, context: Context) -> Job:
    """The job with that run proposed, where its budget allows it."""
    plan = planned(run, job.mode, usd_month, context)
    rest = rest_of(job.budget, usd=job.usd, runs=len(job.tried))
    chosen, left = within([run], lambda _run: plan.usd or 0.0, rest)
    if not job.tried:
        context.agree([plan] if chosen else [], left)
    if not chosen:
        return job if job.tried else replace(job, note=NO_BUDGET)
    bench = context.bench(job.place)
    subject = subject_of(found, run, bench=bench, place=job.place, policy=context.policy, now=job.now)
    return replace(job, proposal=Proposal(run=run, subject=subject, usd_month=usd_month))
