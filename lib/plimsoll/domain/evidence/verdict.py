"""Verdicts: a comparison of what was measured with the need."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.domain.ceiling import RESOURCES, Need, Resource
from plimsoll.domain.evidence.envelope import DELIVERED
from plimsoll.domain.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The figures that one job of a benchmark showed; None: its result does not say. `paced`: it was held to a rate."""

    name: str
    iops: float | None
    throughput_mib_s: float | None
    mean_latency_us: float | None = None
    p99_latency_us: float | None = None
    paced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a validation: passed or not, and why.

    `reasons` have the figures that carried or did not, `failures` those because of which it did not pass. `fell_short`
    are the resources on which it delivered less than the need. `too_slow`: it answered later than the policy allows.
    """

    passed: bool
    reasons: tuple[str, ...]
    failures: tuple[str, ...]
    shown_iops: float
    shown_throughput_mib_s: float
    p99_latency_us: float | None
    fell_short: frozenset[Resource] = frozenset()
    too_slow: bool = False


def judge_need(shown: Iterable[Shown], need: Need, *, today_mean_latency_us: float | None, policy: Policy) -> Verdict:
    """Compares what a configuration showed with the need, headroom included.

    It passes when the best of all jobs reaches the need on both resources, and the paced jobs, which ask what the
    workload asks, answer within the policy: p99 under `max_p99_latency_us`, and the mean no more than
    `latency_slack_pct` above today's (like with like: clouds publish means alone).
    """
    return _judge(list(shown), need, _carried_text, today_mean_latency_us, policy)


def judge_in_place(
    shown: Iterable[Shown], asked: Need, *, today_mean_latency_us: float | None, policy: Policy
) -> Verdict:
    """Compares what a volume showed beside its own workload with the rates that were `asked` of it.

    It passes when it held them and answered as `judge_need` asks; nothing is known of what it could do beyond.
    """
    return _judge(list(shown), asked, _held_text, today_mean_latency_us, policy)


_Sentence = Callable[[str, float, float, bool], str]
"""A sentence on a unit, what was shown of it, what was wanted, and whether that is short."""


def _judge(jobs: Sequence[Shown], wanted: Need, sentence: _Sentence, today: float | None, policy: Policy) -> Verdict:
    best = {
        Resource.IOPS: max((job.iops or 0.0 for job in jobs), default=0.0),
        Resource.THROUGHPUT: max((job.throughput_mib_s or 0.0 for job in jobs), default=0.0),
    }
    needed = {Resource.IOPS: wanted.iops, Resource.THROUGHPUT: wanted.throughput_mib_s}
    fell_short = frozenset(side for side in RESOURCES if best[side] < DELIVERED * needed[side])
    sides = {side: sentence(side.unit, best[side], needed[side], side in fell_short) for side in RESOURCES}
    paced = [job for job in jobs if job.paced]
    p99 = max((job.p99_latency_us for job in paced if job.p99_latency_us is not None), default=None)
    mean = max((job.mean_latency_us for job in paced if job.mean_latency_us is not None), default=None)
    late = list(_late_texts(p99, mean, today, policy))
    return Verdict(
        passed=not fell_short and not late,
        reasons=(*sides.values(), *late, *_latency_texts(p99, late)),
        failures=(*(text for side, text in sides.items() if side in fell_short), *late),
        shown_iops=best[Resource.IOPS],
        shown_throughput_mib_s=best[Resource.THROUGHPUT],
        p99_latency_us=p99,
        fell_short=fell_short,
        too_slow=bool(late),
    )


def _carried_text(unit: str, shown: float, needed: float, short: bool) -> str:
    verb = "delivered only" if short else "delivered"
    return f"{verb} {shown:,.0f} {unit} of the {needed:,.0f} that are needed, headroom included"


def _held_text(unit: str, shown: float, asked: float, short: bool) -> str:
    if short:
        return f"was to carry {asked:,.0f} {unit} beside its own workload and carried only {shown:,.0f}"
    return f"carried {shown:,.0f} {unit} beside its own workload: no worse than this"


def _late_texts(p99: float | None, mean: float | None, today: float | None, policy: Policy) -> Iterator[str]:
    if p99 is not None and p99 > policy.max_p99_latency_us:
        yield (
            f"at the workload's rate 99 % of operations took up to {p99:,.0f} us; the policy allows "
            f"{policy.max_p99_latency_us:,.0f} (max_p99_latency_us)"
        )
    if mean is not None and today is not None and mean > today * (1 + policy.latency_slack_pct / 100):
        yield (
            f"at the workload's rate an operation took {mean:,.0f} us on average; today it takes {today:,.0f}, and "
            f"the policy allows {policy.latency_slack_pct:g} % more (latency_slack_pct)"
        )


def _latency_texts(p99: float | None, late: list[str]) -> Iterator[str]:
    if p99 is not None and not late:
        yield f"at the workload's rate 99 % of operations took up to {p99:,.0f} us"
