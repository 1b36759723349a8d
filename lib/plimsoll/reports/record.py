"""The records: a recommendation as the world reads it, in recommendations.json, with its JSON Schema, and the demand of
a volume over time, a line of demand.jsonl.

Money is in USD a month with two decimals, rates with two, hours and minutes with one. Keys carry their unit.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast

import numpy as np
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from plimsoll.clouds.cloud import published_facts
from plimsoll.clouds.registry import CLOUDS
from plimsoll.decide.answer import Answer, FrontierStep, StepKind, Wait
from plimsoll.decide.evidence import CODE, FailedMeasurement
from plimsoll.decide.history import RunAnswer
from plimsoll.decide.offers import LossCode, find_cuts, find_losses, published_cuts
from plimsoll.demand.seconds import Exceeded, SecondsSeen
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.kinds import CHANGES, KINDS, CountsAs, Kind
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Policy
from plimsoll.model.units import MIB, US_PER_S, Digits
from plimsoll.model.volume import NAME_TAG, VolumeSpec
from plimsoll.risk.histories import PastPeaks


class _OneOf:
    """The annotation of a text that is one of these, as Literal is of those that a type checker knows."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(self._texts)


Action = Annotated[str, _OneOf(KINDS)]
Grades = Literal["A", "B", "C"]

FIRST_PROVIDER: Final = "aws"
"""The cloud of volumes whose record names none: those of earlier versions, which knew no other."""


EARLIER: Final = "earlier-version"
"""The code of a reason that an earlier version gave, whose reasons had no codes."""

ALLOWED_PCT: Final = Policy().risk_pct
"""The risk that is taken to be allowed where an earlier version did not record that."""

OLD_KEYS: Final = {"monthly_usd_saved_drop_in": "monthly_usd_saved_at_parity", "drop_in": "parity"}
"""The keys of a recommendation that earlier versions wrote under another name, each with that name."""


UNROUNDED: Final = Digits(None)
"""A figure as it is: an owner's, or one that is reckoned with again."""

FLOORED: Final = Digits(2, floor=True)
"""A share that is 100 only where nothing is missing."""

MILLIONTHS: Final = Digits(6)
"""Money that is added up over thousands of small volumes."""

Plain = Any
"""A value as JSON has it."""


@dataclass(frozen=True, slots=True)
class At:
    """The origin of a key: a path of names from the value, which ends at what is None, or a function of the value."""

    place: str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class By:
    """The writing of a key's value, where the rule is not enough."""

    write: Callable[[Any], Plain]


SUPPLIED: Final = At("")
"""The origin of a key that the value does not have."""


class _Record(BaseModel):
    # What is written has every key; only what an earlier version wrote may lack those that it did not know.
    model_config = ConfigDict(
        extra="forbid", defer_build=True, frozen=True, json_schema_serialization_defaults_required=True
    )


class SpecRecord(_Record):
    """A configuration; null where the type provisions nothing."""

    type: str
    size_gib: int
    iops: int | None
    throughput_mib_s: int | None

    @property
    def spec(self) -> VolumeSpec:
        """The configuration that it records."""
        return VolumeSpec(**self.model_dump())


class DemandRecord(_Record):
    """The demand of the volume in numbers. Peaks are those of buckets of `resolution_s` seconds.

    Buckets that could not change the answer are not read: no peak was above `peak_iops`, and one was at least
    `least_peak_iops`. Both are the same where the peak was read.
    """

    peak_iops: float
    peak_throughput_mib_s: float
    least_peak_iops: float
    least_peak_throughput_mib_s: float
    peak_busy_iops: float | None = Field(
        description="peak rate over the busy share of a bucket: an upper bound; null where not every bucket was read"
    )
    peak_busy_throughput_mib_s: float | None
    peak_second_iops: float | None = Field(
        default=None, description="no second was above it; null where the cloud does not publish its busiest seconds"
    )
    peak_second_throughput_mib_s: float | None = None
    mean_iops: float
    mean_throughput_mib_s: float
    mean_io_size_kib: float | None
    read_share: float | None
    resolution_s: int = Field(description="the coarsest period that had to be read")
    censored: bool = Field(description="demand stood at a ceiling, so the true demand is at least this")
    throttled_minutes: float = Field(description="minutes at the volume's ceiling")
    flagged_minutes: float = Field(default=0.0, description="of these, minutes that only the cloud's own check shows")
    host_bound_minutes: float = Field(description="minutes at the host's ceiling")
    host_bound_measured_minutes: float = Field(
        default=0.0, description="of these, minutes that the cloud measured; the others follow from published limits"
    )
    host_cleared_minutes: float = Field(
        default=0.0,
        description="minutes at the host's published limits in which the cloud measured that it was not the limit",
    )
    hours_observed: float
    gap_hours: float
    hours_expected: Annotated[float | None, At("coverage.hours_expected")] = Field(
        default=None,
        description="the hours observed, and those without points in which the volume was attached to a running host",
    )
    coverage_pct: Annotated[float | None, At("coverage.hours_pct"), FLOORED] = Field(
        default=None, description="the share of the expected hours that was observed"
    )
    disputed_hours: Annotated[float | None, At("coverage.disputed_hours"), Digits(2)] = Field(
        default=None,
        description="hours in which series of one time disagreed, asked twice: nothing is recommended then",
    )
    series_received_pct: Annotated[dict[str, float], At("coverage.series_pct"), FLOORED] = Field(
        default_factory=dict,
        description="of each series that is published for the volume, the share of the time that was received",
    )


class ReplayRecord(_Record):
    """Minutes at whose end work was still waiting when the demand is pushed through a ceiling."""

    throttled_minutes_now: Annotated[float, At("comparison.now.throttled_minutes")]
    throttled_minutes_then: Annotated[float | None, At("trial_then.throttled_minutes")]
    worst_delay_s_now: Annotated[float, At("comparison.now.longest_wait_s"), Digits(3)]
    worst_delay_s_then: Annotated[float | None, At("trial_then.longest_wait_s"), Digits(3)]


class EvidenceRecord(_Record):
    """The evidence behind the offer: A measured here, B measured elsewhere or longer ago, C published limits alone."""

    grade: Annotated[Grades, At("grade.name")]
    envelope: str | None
    text: str
    sources: list[str] = Field(default_factory=list, description="where the measurements behind it were published")


def _limit_of_writes(written: float, read: float) -> float | None:
    """The limit; None if it is shown as that of reads."""
    return None if round(written, 2) == round(read, 2) else written


def _write_iops(ceiling: Ceiling) -> float | None:
    return _limit_of_writes(ceiling.write_iops, ceiling.iops)


def _write_throughput(ceiling: Ceiling) -> float | None:
    return _limit_of_writes(ceiling.write_throughput_mib_s, ceiling.throughput_mib_s)


class CeilingRecord(_Record):
    """The rates that a configuration carries; null where no limit is known.

    `sustained_*` is carried without end, the rest while credits last. Operations of more than `io_kib` count as
    several. Where writes have a limit of their own, all figures but `write_*` are those of reads.
    """

    iops: float | None
    throughput_mib_s: float | None
    sustained_iops: float | None
    sustained_throughput_mib_s: float | None
    io_kib: float | None
    write_iops: Annotated[float | None, At(_write_iops)] = Field(
        default=None, description="the limit of writes alone; null where writes have no other limit"
    )
    write_throughput_mib_s: Annotated[float | None, At(_write_throughput)] = None


class CeilingsRecord(_Record):
    """The volume's ceiling as it is and as offered (null where nothing is), and that of its hosts together."""

    now: Annotated[CeilingRecord, At("comparison.present")]
    offered: Annotated[CeilingRecord | None, At("target.ceiling")]
    hosts: Annotated[CeilingRecord, At("comparison.hosts")]


class OfferRecord(_Record):
    """A configuration that was weighed, and why it was refused if it was."""

    spec: SpecRecord
    monthly_usd: Annotated[float | None, At("usd_month")]
    ceiling_iops: Annotated[float, At("ceiling.iops")]
    ceiling_throughput_mib_s: Annotated[float, At("ceiling.throughput_mib_s")]
    throttled_minutes: Annotated[float | None, At("tried.throttled_minutes")]
    refused: list[str]


def _delivered_rate(side: Resource) -> Callable[[FailedMeasurement], float | None]:
    return lambda failed: failed.delivered.get(side)


def _published_rate(side: Resource) -> Callable[[FailedMeasurement], float]:
    return lambda failed: failed.published_rate(side)


def _is_too_slow(failed: FailedMeasurement) -> bool:
    return failed.volume_id is not None


class FailedMeasurementRecord(_Record):
    """A measurement made here lately that delivered too little or too late: it speaks against offers of its type."""

    code: Annotated[str, At(lambda _: CODE)] = Field(
        description="failed-measurement, as in the reasons and in what an offer is refused for"
    )
    volume_type: Annotated[str, At("spec.type")]
    measured_on: str = Field(description="ISO 8601")
    source: str = Field(description="the tool or source that measured it, with its link")
    delivered_iops: Annotated[float | None, At(_delivered_rate(Resource.IOPS))] = Field(
        description="null where it delivered the published limit"
    )
    published_iops: Annotated[float, At(_published_rate(Resource.IOPS))]
    delivered_throughput_mib_s: Annotated[float | None, At(_delivered_rate(Resource.THROUGHPUT))]
    published_throughput_mib_s: Annotated[float, At(_published_rate(Resource.THROUGHPUT))]
    too_slow: Annotated[bool, At(_is_too_slow)] = Field(description="whether it answered later than the policy allows")
    text: str


class BlockerRecord(_Record):
    """A reason that forbids the change today."""

    code: str
    text: str


class FrontierStepRecord(_Record):
    """The cheapest configuration that throttles at most `budget_min` minutes in 30 days."""

    budget_min: Annotated[float, UNROUNDED]
    spec: SpecRecord
    monthly_usd: Annotated[float, At("usd_month")]
    throttled_minutes: float = Field(description="in the window")
    longest_wait_s: Annotated[float, Digits(1)]
    at_most: bool = Field(description="not all minutes were read: price, minutes and wait may be less")


class EpochRecord(_Record):
    """A span of the window in which neither the volume's configuration nor its hosts changed."""

    start: Annotated[str, At("window.start_s")] = Field(description="ISO 8601, UTC, in seconds")
    end: Annotated[str, At("window.end_s")]
    spec: SpecRecord | None = Field(description="null where it is not known what the volume was")
    ceiling_iops: Annotated[float | None, At("ceiling.iops")]
    ceiling_throughput_mib_s: Annotated[float | None, At("ceiling.throughput_mib_s")]
    throttled_minutes: float


def _expected_saving(wait: Wait) -> float:
    return 0.0 if wait.expected.usd_month is None else wait.usd_month_now - wait.expected.usd_month


class WaitRecord(_Record):
    """Why a reduction cannot be judged yet, and from when on it can."""

    until: str = Field(description="the day to look again, ISO 8601")
    code: str
    expected: Annotated[SpecRecord, At("expected.spec")] = Field(
        description="the recommendation on that day if nothing new is seen"
    )
    monthly_usd_saved: Annotated[float, At(_expected_saving)] = Field(description="by the expected configuration")


class SaferRecord(_Record):
    """The next level of safety."""

    promised_pct: Annotated[float, At("level.promised_pct")]
    headroom_pct: Annotated[float, At("level.headroom.pct")]
    monthly_usd: Annotated[float, At("usd_month")] = Field(description="the most that the volume costs then")


class RiskRecord(_Record):
    """The risk that the volume outgrows its recommended size, and the origin of that figure."""

    promised_pct: float | None = Field(
        description="at most this share of similar volumes throttles for longer; null: nothing is promised"
    )
    minutes: Annotated[float, UNROUNDED]
    days: Annotated[float, UNROUNDED]
    history_days: float
    headroom_pct: Annotated[float, At("headroom.pct")]
    is_learned: bool = Field(description="whether the headroom was learned; if not, it is the policy's fixed one")
    learned_from: list[str]
    volumes: int
    public: bool = Field(description="whether the promise was learned from public fleets, not your own")
    text: str
    left_pct: float | None = Field(
        default=None,
        description="headroom above the highest known minute; negative if a single minute of the past was higher; the "
        "least possible where minutes were not read",
    )
    stratum: Annotated[str | None, At(lambda risk: risk.stratum or None)] = Field(
        default=None, description="the kind of owner whose volumes it was learned from; null: the whole fleet"
    )
    usual_share: float = Field(default=1.0, description="the usual share of the volume's highest demand")
    safer: SaferRecord | None = Field(default=None, description="null where no safer level is known")
    allowed_pct: float = Field(default=ALLOWED_PCT, description="the risk that the policy allows (risk_pct)")


class SignalsRecord(_Record):
    """The latencies, queues and limits of the volume and its host from `start` to `end`, to check a change against.

    Means, and the highest minutes. Mean latencies of reads and of writes are over their operations. Null where the
    cloud has no point of it, or does not publish it for such a volume.
    """

    start: Annotated[str, At("window.start_s")] = Field(description="ISO 8601, UTC, in seconds")
    end: Annotated[str, At("window.end_s")]
    days_observed: int = Field(default=0, description="the least number of days that any figure here rests on")
    mean_read_latency_ms: Annotated[float | None, At("read_latency_ms.mean")]
    highest_read_latency_ms: Annotated[float | None, At("read_latency_ms.highest")]
    mean_write_latency_ms: Annotated[float | None, At("write_latency_ms.mean")]
    highest_write_latency_ms: Annotated[float | None, At("write_latency_ms.highest")]
    mean_io_latency_ms: Annotated[float | None, At("io_latency_ms.mean")] = Field(
        description="where the cloud does not tell reads from writes"
    )
    highest_io_latency_ms: Annotated[float | None, At("io_latency_ms.highest")]
    mean_queue_length: Annotated[float | None, At("queue_length.mean")] = Field(
        description="operations that wait or are under way"
    )
    highest_queue_length: Annotated[float | None, At("queue_length.highest")]
    stalled_minutes: float | None = Field(description="minutes in which no operation ended")
    degraded_minutes: float | None = Field(description="minutes in which the cloud said that the volume was impaired")
    host_iops_exceeded_minutes: float | None = Field(description="minutes above the host's maximum IOPS")
    host_throughput_exceeded_minutes: float | None
    host_iops_balance_pct: Annotated[float | None, Digits(2)] = Field(
        description="the least that was left of the host's credits"
    )
    host_throughput_balance_pct: Annotated[float | None, Digits(2)]


def _exceeded_s(exceeded: Mapping[Resource, Exceeded] | None, side: Resource) -> float | None:
    """The seconds for which a limit was exceeded; None where the host does not count that."""
    return None if exceeded is None or side not in exceeded else exceeded[side].us / US_PER_S


def _exceeded_volume_s(side: Resource) -> Callable[[SecondsSeen], float | None]:
    return lambda seen: _exceeded_s(seen.exceeded_volume, side)


def _exceeded_host_s(side: Resource) -> Callable[[SecondsSeen], float | None]:
    return lambda seen: _exceeded_s(seen.exceeded_host, side)


def _peak_mib_s(seen: SecondsSeen) -> float:
    return seen.bytes_s.peak.rate / MIB


def _p99_iops(seen: SecondsSeen) -> float:
    return seen.iops.quantile(0.99)


def _p99_mib_s(seen: SecondsSeen) -> float:
    return seen.bytes_s.quantile(0.99) / MIB


class SecondsSeenRecord(_Record):
    """The counts of the latest probe, second by second; null where the volume's host does not count that."""

    began: str = Field(description="ISO 8601, UTC, in seconds")
    seconds: int = Field(description="looked at one by one")
    source: str = Field(description="nvme: EBS's own counts; diskstats: the kernel's")
    missed_s: int = Field(description="seconds in which the host was too busy: peaks may be higher")
    peak_iops: Annotated[float, At("iops.peak.rate")] = Field(description="the busiest second")
    peak_iops_at: Annotated[str, At("iops.peak.at")]
    peak_throughput_mib_s: Annotated[float, At(_peak_mib_s)]
    peak_throughput_at: Annotated[str, At("bytes_s.peak.at")]
    p99_iops: Annotated[float, At(_p99_iops)] = Field(
        description="99 % of the seconds had at most that, to the bins of 10 %"
    )
    p99_throughput_mib_s: Annotated[float, At(_p99_mib_s)]
    mean_queue: float
    most_queue: int
    exceeded_volume_iops_s: Annotated[float | None, At(_exceeded_volume_s(Resource.IOPS)), UNROUNDED] = Field(
        description="seconds in which demand exceeded the volume's limit"
    )
    exceeded_volume_throughput_s: Annotated[float | None, At(_exceeded_volume_s(Resource.THROUGHPUT)), UNROUNDED]
    exceeded_host_iops_s: Annotated[float | None, At(_exceeded_host_s(Resource.IOPS)), UNROUNDED]
    exceeded_host_throughput_s: Annotated[float | None, At(_exceeded_host_s(Resource.THROUGHPUT)), UNROUNDED]
    p99_read_latency_us: Annotated[int | None, At("p99_read_us")] = Field(
        description="99 % of the reads took at most that"
    )
    p99_write_latency_us: Annotated[int | None, At("p99_write_us")]
    mean_latency_us: Annotated[float | None, Digits(1)]
    title: Annotated[str, SUPPLIED]
    lines: Annotated[list[str], SUPPLIED] = Field(
        description="the same in sentences, with the seconds above what the offer would sustain"
    )


RateSide = Literal["IOPS", "MiB/s"]


class EventRecord(_Record):
    """The highest mean of the memory that spoke against a reduction."""

    side: Annotated[RateSide, At("event.side")]
    rate: Annotated[float, At("event.rate")]
    start: Annotated[str, At("event.start_s")] = Field(description="ISO 8601, UTC, in seconds")
    minutes: Annotated[float, At("event.minutes"), UNROUNDED] = Field(
        description="how long it lasted on that day, in buckets of five minutes or an hour; 1: a single minute"
    )
    days: Annotated[int, At(lambda memory: len(memory.event.days))] = Field(
        description="days that are known to have had what spoke against it"
    )
    rhythm: str | None = Field(description="what those days have in common; null where nothing is seen")


def _rates_of_days(peaks: PastPeaks, side: str) -> list[list[float] | None]:
    """The rates of the busiest days of each block on a side."""
    return [None if days is None else [getattr(day, side) for day in days] for days in peaks.busiest]


class PastPeaksRecord(_Record):
    """The highest minutes of the four busiest days of each block of `days`, the highest first, the latest block first;
    null where they are not known.

    Headroom is learned of these. `free_*` is what the offered type carries without being asked for more.
    """

    days: int
    iops: Annotated[list[list[float] | None], At(lambda peaks: _rates_of_days(peaks, "iops"))]
    throughput_mib_s: Annotated[
        list[list[float] | None], At(lambda peaks: _rates_of_days(peaks, "throughput_mib_s")), Digits(3)
    ]
    free_iops: Annotated[float, At("free.iops"), UNROUNDED]
    free_throughput_mib_s: Annotated[float, At("free.throughput_mib_s"), UNROUNDED]
    ceiling_iops: Annotated[float, At("ceiling.iops"), UNROUNDED]
    ceiling_throughput_mib_s: Annotated[float, At("ceiling.throughput_mib_s"), UNROUNDED]


class MemoryRecord(_Record):
    """The time before the window that was asked whether it speaks against a reduction."""

    start: Annotated[str, At("window.start_s")] = Field(description="ISO 8601, UTC, in seconds")
    end: Annotated[str, At("window.end_s")]
    days: int = Field(description="days with any datapoint, as far as was read")
    instead_of: SpecRecord | None = Field(description="the answer by the window alone; null: the past agrees with it")
    event: Annotated[EventRecord | None, At(lambda memory: memory.event and memory)]
    peaks: PastPeaksRecord | None = Field(default=None, description="null where an earlier version wrote it")


class GrowthRecord(_Record):
    """The growth of demand, where the headroom keeps room for it."""

    iops_pct_a_day: Annotated[float, Digits(3)] = Field(
        description="more operations each day, in percent of the last two weeks; 0: none"
    )
    throughput_pct_a_day: Annotated[float, Digits(3)] = Field(description="more bytes each day, likewise")
    weeks: int = Field(description="weeks that were compared")
    headroom_pct: Annotated[float, At("headroom.pct"), Digits(1)] = Field(
        description="with room for growth_days of it, a third of these for relief"
    )


class LossRecord(_Record):
    """A thing that a change gives up beside IOPS and MiB/s: as it is now, and as it would be then."""

    code: LossCode
    now: str
    then: str


class OwnerRecord(_Record):
    """Who made the volume and would change it."""

    kind: str
    name: str | None


class ChangeStepRecord(_Record):
    """A step of a change: a command, a manifest's file, an edit that a person makes, or a note."""

    kind: StepKind
    text: str
    path: str = Field(description="the name of a file, or the place of an edit in words; empty for the others")
    namespace: str = Field(description="of the claim that a command changes; empty for the others")


class StripeSetRecord(_Record):
    """The stripe set that a volume is decided with; its money is that of all members, each of which has a part."""

    name: Annotated[str, At("stripes.name")]
    level: Annotated[str, At("stripes.level")]
    host: Annotated[str, At("stripes.host_id")]
    mounts: Annotated[list[str], At("stripes.mounts")]
    members: Annotated[list[str], At(lambda answer: [member.volume_id for member in answer.members])]
    held_back_by: Annotated[
        dict[str, str],
        At(lambda answer: {member.volume_id: member.held for member in answer.members if member.held is not None}),
    ] = Field(description="the members that must stay as they are, with the reason")
    monthly_usd_now: Annotated[float | None, At("usd_month_now")] = Field(
        description="null where a member could not be decided or has no price"
    )
    monthly_usd_then: Annotated[float | None, At("usd_month_then")]
    monthly_usd_saved: Annotated[float | None, At(lambda answer: _saving(answer.usd_month_now, answer.usd_month_then))]


class TakeoverRecord(_Record):
    """The volume that this one takes over from, or is suspected to, and the offer in that one's own answer."""

    volume_id: Annotated[str, At("volume.id")]
    told_by: Annotated[str, At("takeover.told_by")] = Field(
        description="tag, stateful-set, blue-green, auto-scaling; name: only suspected"
    )
    name: Annotated[str, At("takeover.name")] = Field(
        description="the sign of the takeover, such as a tag and its value"
    )
    iops: Annotated[float | None, At("ceiling.iops"), UNROUNDED] = Field(
        description="null where it is not known what the other will carry"
    )
    throughput_mib_s: Annotated[float | None, At("ceiling.throughput_mib_s"), UNROUNDED]


class TemplateOfferRecord(_Record):
    """The offer that carries one volume's own demand for less, however little it saves; its price in three parts."""

    spec: SpecRecord
    monthly_usd_size: Annotated[float, At("size_usd"), MILLIONTHS] = Field(
        description="the price of the size alone; six decimals, as the next two"
    )
    monthly_usd_iops: Annotated[float, At("iops_usd"), MILLIONTHS]
    monthly_usd_throughput: Annotated[float, At("throughput_usd"), MILLIONTHS]
    most_iops: int | None = Field(description="highest that can be provisioned at the volume's size; null: none can")
    most_throughput_mib_s: int | None


class TemplateRecord(_Record):
    """The template that made the volume with others like it, and the volume's part in one change of all.

    run.json has these changes as `templates`. A volume with neither `offer` nor `held` is not judged yet.
    """

    kind: Annotated[str, At("part.template.kind")]
    name: Annotated[str, At("part.template.name")]
    device: Annotated[str, At("part.template.device")]
    monthly_usd_now: Annotated[float | None, At("usd_month_now"), MILLIONTHS] = Field(description="six decimals")
    least_monthly_usd: Annotated[float, At("part.least_usd_month"), UNROUNDED] = Field(
        description="the least saving that the policy asks of the change"
    )
    least_hours: Annotated[float, At("part.least_hours"), UNROUNDED] = Field(
        description="the hours that have to be observed of all together"
    )
    together: Annotated[bool, At("part.together")] = Field(description="the volume is too new to be judged alone")
    offer: Annotated[TemplateOfferRecord | None, At("part.offer")]
    held: Annotated[str | None, At("part.held")] = Field(
        description="why this volume, and so its template, stays as it is"
    )


class TooRiskyRecord(_Record):
    """The reduction that would be recommended if the policy allowed its risk. Its money is in no saving."""

    spec: Annotated[SpecRecord, At("too_risky.offer.spec")]
    monthly_usd: Annotated[float, At("too_risky.offer.usd_month")]
    monthly_usd_saved: Annotated[
        float, At(lambda answer: _saving(answer.usd_month_now, answer.too_risky.offer.usd_month))
    ] = Field(description="less than today")
    cuts: Annotated[
        list[RateSide], At(lambda answer: find_cuts(answer.too_risky.offer.ceiling, answer.comparison.present))
    ] = Field(description="the limits that are lower than the present volume's")
    risk: Annotated[RiskRecord | None, At("too_risky.risk")] = Field(description="null where nothing was learned")


def earlier_codes(fields: Mapping[str, Any]) -> list[str]:
    """The codes of the reasons that an earlier version wrote, which gave them none."""
    return [EARLIER] * len(fields["reasons"])


def _find_types(provider: str) -> Mapping[str, VolumeType]:
    """The published types of a cloud; none of one that this version does not know."""
    return published_facts(CLOUDS[provider]).catalog.types if provider in CLOUDS else {}


def earlier_cuts(fields: Mapping[str, Any]) -> list[RateSide]:
    """The limits that a change of an earlier version lowers; none where it is what keeps today's limits."""
    current, target, kept = fields["current"], fields["target"], fields["drop_in"]
    if fields["action"] not in CHANGES or target is None or (kept is not None and kept.spec == target):
        return []
    types = _find_types(fields["provider"])
    return cast("list[RateSide]", list(published_cuts(current.spec, target.spec, types)))


def earlier_losses(fields: Mapping[str, Any]) -> list[LossRecord]:
    """The losses of a change of an earlier version, by the configurations that it recorded."""
    current, target = fields["current"], fields["target"]
    if fields["action"] not in CHANGES or target is None:
        return []
    cuts = earlier_cuts(fields)
    losses = find_losses(current.spec, target.spec, _find_types(fields["provider"]), cuts)
    return [LossRecord(code=loss.code, now=loss.now, then=loss.then) for loss in losses]


def earlier_change(plain: str, provider: str) -> str:
    """The cuts and losses of an earlier version's change as JSON, by the JSON of its record's configurations."""
    written = json.loads(plain)
    current, target = (
        None if written[key] is None else SpecRecord.model_validate(written[key]) for key in ("current", "target")
    )
    drop_in = None if written["drop_in"] is None else OfferRecord.model_validate(written["drop_in"])
    fields = {"action": written["action"], "current": current, "target": target, "drop_in": drop_in}
    fields["provider"] = provider
    losses = [loss.model_dump(mode="json") for loss in earlier_losses(fields)]
    return json.dumps({"cuts": earlier_cuts(fields), "losses": losses})


_FRONTIER_USD_MONTH: Final = 5.0
_FRONTIER_SHARE: Final = 0.05
"""What a step of a frontier has to save of the first one's price for the frontier to be shown."""


def _saving(usd_now: float | None, usd_then: float | None) -> float | None:
    """The saving between two prices as they are shown, so that it is their difference there too."""
    return None if usd_now is None or usd_then is None else round(usd_now, 2) - round(usd_then, 2)


def _find_weighed(answer: Answer) -> Answer | None:
    """The answer; None if nothing was weighed."""
    return None if answer.comparison is None else answer


def _shown_tags(answer: Answer) -> dict[str, str]:
    return {key: value for key, value in answer.volume.tags.items() if key != NAME_TAG}


def _shown_frontier(answer: Answer) -> Sequence[FrontierStep]:
    """The frontier; empty unless throttling more minutes than its first step does saves enough."""
    steps = answer.comparison.frontier if answer.comparison else ()
    if not steps:
        return ()
    first, least = steps[0].usd_month, min(step.usd_month for step in steps)
    return steps if first - least >= max(_FRONTIER_USD_MONTH, _FRONTIER_SHARE * first) else ()


def _find_rejected(answer: Answer) -> Answer | None:
    """The answer if a reduction is left out because of its risk; None if it saves too little, or gives nothing back."""
    rejected = answer.too_risky
    if rejected is None or not rejected.saves_enough or answer.volume.storage_pool is not None:
        return None
    return None if rejected.offer.usd_month is None else answer


def _failed_measurements(answer: Answer) -> list[FailedMeasurement]:
    """The failed measurements that speak against any offer, each once."""
    comparison, failures = answer.comparison, list[FailedMeasurement]()
    offers = (*comparison.offers, comparison.drop_in) if comparison else ()
    for offer in offers:
        failures += [failure for failure in (offer.failed if offer else ()) if failure not in failures]
    return failures


class RecommendationRecord(_Record):
    """One volume's recommendation."""

    account: Annotated[str, At("volume.account")]
    region: Annotated[str, At("volume.region")]
    zone: Annotated[str, At("volume.zone")]
    volume_id: Annotated[str, At("volume.id")]
    name: Annotated[str | None, At("volume.name")]
    hosts: Annotated[list[str], At(lambda answer: [host.id for host in answer.volume.hosts])]
    action: Action
    current: Annotated[SpecRecord, At("volume.spec")]
    target: Annotated[SpecRecord | None, At("spec_then")]
    monthly_usd_now: Annotated[float | None, At("usd_month_now")] = Field(
        description="null where the region has no price for the present type"
    )
    monthly_usd_then: Annotated[float | None, At("own_usd_month_then")]
    monthly_usd_saved: Annotated[
        float, At(lambda answer: _saving(answer.usd_month_now, answer.own_usd_month_then) or 0.0)
    ]
    monthly_usd_saved_drop_in: Annotated[float, At("own_usd_month_saved_drop_in")] = Field(
        description="what the same-limits replacement alone would save",
        validation_alias=AliasChoices("monthly_usd_saved_drop_in", OLD_KEYS["monthly_usd_saved_drop_in"]),
    )
    drop_in: Annotated[OfferRecord | None, At("comparison.drop_in")] = Field(
        description="the same-limits replacement: the cheapest offer that keeps the IOPS and MiB/s of today",
        validation_alias=AliasChoices("drop_in", OLD_KEYS["drop_in"]),
    )
    demand: DemandRecord | None
    replay: Annotated[ReplayRecord | None, At(_find_weighed)]
    evidence: EvidenceRecord | None
    offers: Annotated[list[OfferRecord], At("comparison.offers")]
    blockers: list[BlockerRecord]
    reasons: list[str]
    owner: Annotated[OwnerRecord, At("volume.owner")]
    change: Annotated[str, SUPPLIED] = Field(description="how the owner makes the change")
    way_back: Annotated[str, SUPPLIED] = Field(
        default="", description="how the owner takes it back; empty in runs of earlier versions"
    )
    change_steps: Annotated[list[ChangeStepRecord], SUPPLIED] = Field(
        default=[], description="the same change as typed steps, in their order"
    )
    way_back_steps: Annotated[list[ChangeStepRecord], SUPPLIED] = Field(
        default=[], description="the same way back as typed steps, in their order"
    )
    stripe_set: StripeSetRecord | None = Field(
        default=None, description="the volumes that are changed together with this one; null where none is known"
    )
    ceilings: Annotated[CeilingsRecord | None, At(_find_weighed)] = Field(
        default=None, description="null where nothing was weighed"
    )
    created: Annotated[str | None, At("volume.created")] = Field(
        default=None, description="when the volume was made: ISO 8601, UTC, in seconds"
    )
    tags: Annotated[dict[str, str], At(_shown_tags)] = Field(
        default_factory=dict, description="the tags that the policy shows (show_tags), without Name, which is `name`"
    )
    provider: Annotated[str, SUPPLIED] = Field(default=FIRST_PROVIDER, description="the volume's cloud: aws or google")
    frontier: Annotated[list[FrontierStepRecord], At(_shown_frontier)] = Field(
        default_factory=list,
        description="what each number of throttled minutes would cost; empty where it saves little",
    )
    epochs: list[EpochRecord] = Field(default_factory=list, description="oldest first; together they are the window")
    wait: Annotated[WaitRecord | None, At(lambda answer: answer if isinstance(answer, Wait) else None)] = Field(
        default=None, description="null where the action is another one"
    )
    relief: Annotated[OfferRecord | None, At("comparison.relief")] = Field(
        default=None,
        description="the configuration that would end frequent throttling, where another one is recommended",
    )
    idle_days: Annotated[int | None, At("idle.days")] = Field(
        default=None,
        description="for how many days it is known to have done nothing, although it is attached; null: it did "
        "something lately or at the last quarter's end, or that is not known",
    )
    stopped_since: Annotated[str | None, At(lambda answer: answer.volume.stopped_since)] = Field(
        default=None,
        description="since when every host of it has been stopped: ISO 8601, UTC, in seconds; null: one runs, or that "
        "is not known",
    )
    full_limits: Annotated[OfferRecord | None, At("comparison.full")] = Field(
        default=None,
        description="what keeps also the limits that the present host cannot carry, where `drop_in` does not",
    )
    signals: SignalsRecord | None = Field(default=None, description="null where none were read")
    memory: MemoryRecord | None = Field(default=None, description="null where the past had no say")
    growth: GrowthRecord | None = Field(default=None, description="null where no room for any is kept")
    risk: RiskRecord | None = Field(
        default=None, description="null where nothing is reduced, or all that the volume can do is kept"
    )
    too_risky: Annotated[TooRiskyRecord | None, At(_find_rejected)] = Field(
        default=None, description="null where no reduction is left out because of its risk"
    )
    pool: list[str] = Field(
        default_factory=list,
        description="the other volumes of its host that share one ceiling with it, and change with it or not at all",
    )
    takeover: Annotated[TakeoverRecord | None, At("peer")] = Field(
        default=None, description="null where no volume that it takes over from needs more than the offer"
    )
    template: Annotated[TemplateRecord | None, At(lambda answer: answer.part and answer)] = Field(
        default=None, description="null where no template is known to have made it, or nothing was weighed"
    )
    seconds_seen: Annotated[SecondsSeenRecord | None, SUPPLIED] = Field(
        default=None, description="null where it was never probed"
    )
    failed_measurements: Annotated[list[FailedMeasurementRecord], At(_failed_measurements)] = Field(
        default_factory=list,
        description="measurements in this account and region that refused an offer, or made it larger",
    )
    reason_codes: Annotated[list[str], At(lambda answer: [reason.code for reason in answer.reasons])] = Field(
        default_factory=earlier_codes, description="the code of each of `reasons`, in their order"
    )
    cuts: list[RateSide] = Field(
        default_factory=earlier_cuts, description="the limits that are lower than the present volume's; none: all kept"
    )
    losses: list[LossRecord] = Field(
        default_factory=earlier_losses, description="losses other than IOPS and MiB/s; none: a drop-in"
    )

    @property
    def kind(self) -> Kind:
        """The row of its action in the table of kinds."""
        return KINDS[self.action]

    @property
    def answer(self) -> RunAnswer:
        """Its answer, as the history of volumes keeps it."""
        return RunAnswer(
            action=self.action,
            current=self.current.spec,
            target=None if self.target is None else self.target.spec,
            drop_in=None if self.drop_in is None else self.drop_in.spec.spec,
        )

    @property
    def headroom_factor(self) -> float | None:
        """The factor on what was seen that its answer rests on; None if it was not recorded."""
        part = self.risk or self.growth
        return None if part is None else 1 + part.headroom_pct / 100


def _four_digits(rates: FloatArray) -> list[float | None]:
    """Rounded by exact powers of ten, so that no noise is written."""
    digits = 3 - np.floor(np.log10(rates, out=np.zeros_like(rates), where=rates > 0))
    finer, coarser = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    rounded = (np.rint(rates * finer / coarser) / finer * coarser).astype(object)
    rounded[np.isnan(rates)] = None
    return list(rounded.tolist())


def _list_array(values: FloatArray | IntArray | BoolArray) -> list[Any]:
    return list(values.tolist())


def _list_minutes(minutes: FloatArray) -> list[float]:
    return _list_array(np.round(minutes, 1))


SpanRates = Annotated[list[float | None], By(_four_digits)]
"""A rate in each span, to four significant digits; null where nothing was observed."""


class DemandProfileRecord(BaseModel):
    """A volume's demand in consecutive spans from `start_s` (epoch seconds) on; lists have one element a span."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    account: Annotated[str, SUPPLIED]
    region: Annotated[str, SUPPLIED]
    volume_id: Annotated[str, SUPPLIED]
    start_s: Annotated[int, At(lambda profile: int(profile.starts_s[0]))]
    length_s: Annotated[list[int], At("lengths_s"), By(_list_array)]
    shortest_s: Annotated[list[int], By(_list_array)] = Field(
        description="the shortest bucket that was read in each span"
    )
    iops: SpanRates = Field(description="means of the spans")
    read_iops: SpanRates
    throughput_mib_s: SpanRates
    read_throughput_mib_s: SpanRates
    peak_iops: SpanRates = Field(description="highest bucket of each span")
    peak_throughput_mib_s: SpanRates
    most_ops_iops: SpanRates = Field(
        description="of the time with the most operations, where their bytes are known too"
    )
    most_ops_throughput_mib_s: SpanRates
    most_moved_iops: SpanRates = Field(
        description="of the time that moved the most, where its operations are known too"
    )
    most_moved_throughput_mib_s: SpanRates
    sized: Annotated[list[bool], By(_list_array)] = Field(
        description="whether the means tell a size of I/O, being of the very same time"
    )
    throttled_minutes: Annotated[list[float], By(_list_minutes)]
    host_bound_minutes: Annotated[list[float], By(_list_minutes)]


Cents = Annotated[float | None, AfterValidator(lambda usd: None if usd is None else round(usd, 2))]
"""Money to the cent; None where it is not known."""


class StateRecord(_Record):
    """One thing in a state: what it costs, why that is said, what to do, what is missing for that, and the way back.

    Money is USD a month; null where no price, or nothing of what is billed, is known.
    """

    provider: str
    account: str
    region: str
    state: str
    ids: list[str]
    name: str | None = None
    owner: str = ""
    since: str | None = None
    evidence: list[str] = Field(default_factory=list)
    monthly_usd: Cents = None
    action: str
    target: str | None = None
    freed_gib_least: float | None = None
    freed_gib_most: float | None = None
    monthly_usd_saved_least: Cents = None
    monthly_usd_saved_most: Cents = None
    lacks: list[BlockerRecord] = Field(default_factory=list, description="what is missing, or speaks against it")
    gives_up: list[str] = Field(default_factory=list)
    commands: list[str] = Field(default_factory=list)
    way_back: str = ""
    way_back_usd: Cents = None
    way_back_hours: float | None = None


def schema() -> dict[str, Any]:
    """The JSON Schema of recommendations.json: a list of recommendations."""
    item = RecommendationRecord.model_json_schema(mode="serialization")
    definitions = item.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plimsoll recommendations",
        "type": "array",
        "items": item,
        "$defs": definitions,
    }


def to_cents(usd: float) -> int:
    """Money of two decimals in whole cents."""
    return round(usd * 100)


def saved_cents(record: RecommendationRecord) -> int:
    """The saving of a recommendation, in cents a month; 0 if it costs, waits or costs more."""
    return cents_of(record).get("saved_cents", 0)


def cents_of(record: RecommendationRecord) -> dict[str, int]:
    """A recommendation's money in cents a month, by the totals' field; 0 where no price is known."""
    now, saved = to_cents(record.monthly_usd_now or 0.0), to_cents(record.monthly_usd_saved)
    too_risky = to_cents(record.too_risky.monthly_usd_saved) - saved if record.too_risky else 0
    money = record.kind.money
    if money is CountsAs.COST:
        return {"now_cents": now}
    if money is CountsAs.MORE and saved < 0:
        return {"now_cents": now, "upgrades_cents": -saved, "too_risky_cents": too_risky}
    return {
        "now_cents": now,
        "saved_cents": saved,
        "saved_drop_in_cents": to_cents(record.monthly_usd_saved_drop_in),
        "blocked_cents": saved if record.blockers else 0,
        "waiting_cents": to_cents(record.wait.monthly_usd_saved) if record.wait else 0,
        "too_risky_cents": too_risky,
    }
