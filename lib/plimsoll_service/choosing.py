"""Choosing: the volumes that a validation measures for, within its budget, before anything is measured."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from plimsoll.clouds.aws.permissions import COPY_TAG
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.targets import named_target
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.ports import Prices, Target
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_files import RECOMMENDATIONS, RUN
from plimsoll_measure.runs import Budget, MeasuringRun, Mode, Want, plan_runs, split_by_budget
from plimsoll_measure.validation.deciding import FLIP, parse_target, usd_month_of
from plimsoll_measure.validation.fio_job import plan_run
from plimsoll_measure.validation.job import Job, JobName, job_document, job_of_class
from plimsoll_measure.validation.thin_evidence import wants_in
from plimsoll_service.config import ValidationBudget
from plimsoll_service.service import Service, unmeasured_reason
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import records_in
from plimsoll_service.target_ports import find_place, ports_at
from plimsoll_service.validating import validation_context
from plimsoll_service.validation_messages import ChooseMessage, Chosen, ChosenItem

_MOST_REPORTED: Final = 100
"""The most sentences on places where nothing can be measured."""


def choose_volumes(service: Service, message: ChooseMessage) -> Chosen:
    """Begins the jobs of a validation: of one volume, or of a run's thin evidence, class by class.

    The classes with the most at stake come first. Raises BadInput for a volume, a target or a run that is not there,
    and if nothing can be measured. CloudError if a place that may have the volume cannot be searched.
    """
    now, request = service.clock.now(), message.given
    if request.run_id is None:
        jobs, left, whys = [_requested_job(message, now, service)], 0, list[str]()
    else:
        jobs, left, whys = _thin_evidence_jobs(message.name, request.run_id, now, service)
    items = [_item(job_document(job.name).put(service.store, job)) for job in jobs]
    return Chosen(validation=message.name, items=items, left_out=left, unmeasured=whys)


def split_budget(costs_usd: Sequence[float], whole: ValidationBudget) -> list[Budget]:
    """The budget split among runs that it allows, so that each may go on without knowledge of the others.

    Each has what it costs; the remainder is split evenly, runs that cannot be split to those that come first.
    """
    count = len(costs_usd)
    if not count:
        return []
    left_usd = max(0.0, whole.max_usd - sum(costs_usd)) / count
    extra, first = divmod(whole.max_runs - count, count)
    return [
        Budget(max_usd=usd + left_usd, max_runs=1 + extra + (number < first)) for number, usd in enumerate(costs_usd)
    ]


def _requested_job(message: ChooseMessage, now: datetime, service: Service) -> Job:
    request = message.given
    if request.target is not None and request.mode is Mode.IN_PLACE:
        raise BadInput("the mode in-place measures the volume's present configuration: leave out target.")
    if request.mode is Mode.COPY and not service.config.validation.copies:
        raise BadInput(
            "the mode copy is switched off, since it reads a volume's data: deploy with validation.copies=true, and "
            f"let the volume's owner tag it {COPY_TAG}."
        )
    if request.target is not None and request.target != FLIP:
        parse_target(request.target, 1, volume_types("aws"))
    place, volume_id = find_place(request.volume_id or "", now, service)
    why = unmeasured_reason(place)
    if why is not None:
        raise BadInput(why)
    return Job(
        name=JobName(validation=message.name, index=0),
        place=place,
        volume_id=volume_id,
        mode=request.mode,
        now=now,
        budget=_full_budget(service),
        asked=request.target,
    )


def _full_budget(service: Service) -> Budget:
    bounds = service.config.validation
    return Budget(max_usd=bounds.max_usd, max_runs=bounds.max_runs)


def _thin_evidence_jobs(
    validation: str, run_id: str, now: datetime, service: Service
) -> tuple[list[Job], int, list[str]]:
    """The jobs of a run's thin evidence that the budget allows, how many it does not, and reasons.

    The reasons say why nothing is measured in some places.
    """
    wants, whys = _wants(run_id, service)
    runs = plan_runs(wants)
    costs_usd = _costs_usd(runs, now, service)
    chosen, left = split_by_budget(runs, lambda run: costs_usd[run.class_key], _full_budget(service))
    parts = split_budget([costs_usd[run.class_key] for run in chosen], service.config.validation)
    jobs = [
        job_of_class(run, JobName(validation=validation, index=index), _place_of(run), now, budget=part)
        for index, (run, part) in enumerate(zip(chosen, parts, strict=True))
    ]
    return jobs, len(left), whys


def _wants(run_id: str, service: Service) -> tuple[Sequence[Want], list[str]]:
    """The changes that a run recommends on thin evidence and that can be measured, and why others cannot."""
    whys: dict[Target, str | None] = {}

    def may_measure(record: RecommendationRecord) -> bool:
        place = named_target(record.account, record.region)
        if place not in whys:
            whys[place] = unmeasured_reason(place)
        return whys[place] is None

    keys = RunKeys(run_id=run_id)
    if service.store.get(keys.report(RUN)) is None:
        raise BadInput(f"there is no run {run_id} with a report: give the id of an audit that has ended.")
    measured = filter(may_measure, records_in(service.store, keys.report(RECOMMENDATIONS)))
    wants = list(wants_in(measured, service.config.parsed_policy, None, volume_types("aws")))
    return wants, [why for _place, why in sorted(whys.items()) if why is not None][:_MOST_REPORTED]


def _costs_usd(runs: Iterable[MeasuringRun], now: datetime, service: Service) -> dict[str, float]:
    """The cost of each run by its class; nothing at a target that cannot be entered, since nothing is made there."""
    entered: dict[Target, Prices | None] = {}
    context, costs_usd = validation_context(service), dict[str, float]()
    for run in runs:
        place = _place_of(run)
        if place not in entered:
            entered[place] = _prices_at(place, now, service)
        prices = entered[place]
        usd = None if prices is None else plan_run(run, Mode.CANARY, usd_month_of(run, place, prices), context).usd
        costs_usd[run.class_key] = usd or 0.0
    return costs_usd


def _prices_at(place: Target, now: datetime, service: Service) -> Prices | None:
    try:
        service.places.bench(place)
        return ports_at(place, now, service).prices
    except CloudError:
        return None  # that is said of each of its runs, when they are proposed


def _place_of(run: MeasuringRun) -> Target:
    return named_target(run.wants[0].account, run.wants[0].region)


def _item(job: Job) -> ChosenItem:
    target = job.asked if job.following is None else str(job.following.spec)
    return ChosenItem(
        account=job.place.account, region=job.place.region, volume_id=job.volume_id, target=target, mode=job.mode
    )
