"""Judging: the results of a run, and the verdict on them."""

from collections.abc import Sequence

from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.need import Need
from plimsoll.domain.validation import MeasuringRun, Mode
from plimsoll.domain.verdict import Shown, Verdict, held, verdict
from plimsoll.envelopes.reading import read_results
from plimsoll.envelopes.results import Result
from plimsoll.validation.desk import Desk, Subject
from plimsoll.validation.jobs import within_headroom
from plimsoll.validation.measuring import Measured


def results_of(measured: Measured, run: MeasuringRun) -> Sequence[Result]:
    """What the jobs of a run showed; NotMeasured where it was stopped, or one of them is no measurement."""
    answer = measured.answer
    if answer.stopped is not None:
        raise NotMeasured(
            f"the run was stopped because the volume's {answer.stopped} rose above the policy's limit: it has no "
            "headroom to be measured in. Use the mode canary or copy."
        )
    if answer.fio is None:
        host_id = measured.host.host.id
        raise NotMeasured(f"the document on {host_id} printed no result of fio for {run.spec}: try again.")
    results = read_results(answer.fio, name=f"fio on {measured.host.host.id}")
    for one in results:
        if one.fault is not None:
            raise NotMeasured(f"fio on {measured.host.host.id}: {one.fault}. Nothing is concluded from it.")
    return results


def judged(
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
