"""Carrying out one run: claimed, measured, judged, added to the library and noted in the book."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.need import Need
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.domain.verdict import Shown, Verdict, held, verdict
from plimsoll.envelopes.reading import read_results
from plimsoll.envelopes.results import Result
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.keeping import add_to_library, line_of
from plimsoll.validation.measuring import Measured, measure, within_headroom
from plimsoll.validation.scratch_volume import Left


def carry_out(
    run: MeasuringRun,
    subject: Subject,
    mode: Mode,
    *,
    usd_month: float | None,
    desk: Desk,
    left: Callable[[Left], None],
) -> ValidationLine:
    """The verdict on a run's spec, measured now; or by another validation of the class that is under way.

    Raises NotMeasured or CloudError; then the class is free again, and nothing is left behind but what `left` hears.
    """
    key = run.class_key if mode is Mode.CANARY else f"{mode.value}/{subject.volume.id}/{run.class_key}"
    holder = desk.new_id()
    shared = _claim(key, holder, desk)
    if shared is not None:
        return shared
    try:
        measured = measure(run, subject, mode, desk, left)
        results = _results(measured, run)
        judged = _judged(results, run, subject, mode, measured.volumes, desk)
        name = add_to_library(run, mode, results, measured, desk)
        line = line_of(run, subject, mode, judged, measured, key=key, campaign=name, usd_month=usd_month, desk=desk)
        desk.book.add(line)
        return line
    finally:
        desk.claims.release(key, holder)


def _claim(key: str, holder: str, desk: Desk) -> ValidationLine | None:
    """None when the class is the holder's to measure; the verdict of another that was measuring it already."""
    began = desk.patience.now()
    until = began + timedelta(hours=desk.policy.scratch_hours)
    if desk.claims.claim(key, holder, until, began):
        return None
    desk.tell("this class is being measured by another validation: waiting for its result")
    desk.patience.wait_for(
        lambda: None if desk.claims.holder(key, desk.patience.now()) else True,
        limit_s=desk.patience.claim_s,
        otherwise="another validation of the same class has not ended: try again when it has.",
    )
    found = [line for line in desk.book.lines() if line.class_key == key and line.at >= began]
    if found:
        return found[-1]
    return _claim(key, holder, desk)


def _results(measured: Measured, run: MeasuringRun) -> Sequence[Result]:
    answer = measured.answer
    if answer.stopped is not None:
        raise NotMeasured(
            f"the run was stopped because the volume's {answer.stopped} rose above the policy's limit: it has no "
            "headroom to be measured in. Use --mode canary or --mode copy."
        )
    if answer.fio is None:
        host_id = measured.host.host.id
        raise NotMeasured(f"the document on {host_id} printed no result of fio for {run.spec}: try again.")
    results = read_results(answer.fio, name=f"fio on {measured.host.host.id}")
    for one in results:
        if one.fault is not None:
            raise NotMeasured(f"fio on {measured.host.host.id}: {one.fault}. Nothing is concluded from it.")
    return results


def _judged(
    results: Sequence[Result], run: MeasuringRun, subject: Subject, mode: Mode, volumes: int, desk: Desk
) -> Verdict:
    """The verdict on what a volume showed; in place, on whether it held what its free headroom allowed."""
    shown, today = [_shown(one, volumes) for one in results], subject.today_mean_latency_us
    if mode is not Mode.IN_PLACE or subject.shape is None:
        return verdict(shown, subject.need, today_mean_latency_us=today, policy=desk.policy)
    rates = within_headroom(subject.shape, run, subject, desk)
    asked = Need(
        iops=rates.at_most_iops.iops / volumes,
        throughput_mib_s=rates.at_most_throughput.throughput_mib_s / volumes,
    )
    return held(shown, asked, today_mean_latency_us=today, policy=desk.policy)


def _shown(one: Result, volumes: int) -> Shown:
    """What a job showed of each of the volumes that carried it together."""
    return Shown(
        name=one.name,
        iops=None if one.iops is None else one.iops / volumes,
        throughput_mib_s=None if one.throughput_mib_s is None else one.throughput_mib_s / volumes,
        mean_latency_us=one.latency.mean_us,
        p99_latency_us=one.latency.at(99.0),
        paced=one.rate_capped,
    )
