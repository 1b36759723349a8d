"""The records: a recommendation as the world reads it, in recommendations.json, with its JSON Schema, and the demand of
a volume over time, a line of demand.jsonl.

Money is in USD a month with two decimals, rates with two, hours and minutes with one. Keys carry their unit.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from plimsoll.domain.kinds import CHANGES, KINDS, CountsAs, Kind
from plimsoll.domain.offers.losses import LossCode, find_losses, published_cuts
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import VolumeSpec
from plimsoll.reports.published import cloud_types


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
    """What the workload asked for. Peaks are those of buckets of `resolution_s` seconds.

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
    flagged_minutes: float = Field(
        default=0.0, description="those of them that the cloud's own check shows, and no rate at the ceiling"
    )
    host_bound_minutes: float = Field(description="minutes at the host's ceiling")
    host_bound_measured_minutes: float = Field(
        default=0.0, description="those of them that the cloud measured; the others follow from published limits"
    )
    host_cleared_minutes: float = Field(
        default=0.0,
        description="minutes at the host's published limits in which the cloud measured that it was not the limit",
    )
    hours_observed: float
    gap_hours: float
    hours_expected: float | None = Field(
        default=None,
        description="the hours observed, and those without points in which the volume was attached to a running host",
    )
    coverage_pct: float | None = Field(default=None, description="the share of the expected hours that was observed")
    disputed_hours: float | None = Field(
        default=None,
        description="hours in which series of one time disagreed, asked twice: nothing is recommended then",
    )
    series_received_pct: dict[str, float] = Field(
        default_factory=dict,
        description="of each series that is published for the volume, the share of the time that was received",
    )


class ReplayRecord(_Record):
    """Minutes at whose end work was still waiting when the demand is pushed through a ceiling."""

    throttled_minutes_now: float
    throttled_minutes_then: float | None
    worst_delay_s_now: float
    worst_delay_s_then: float | None


class EvidenceRecord(_Record):
    """What stands behind the offer: A measured here, B measured elsewhere or longer ago, C published limits alone."""

    grade: Grades
    envelope: str | None
    text: str
    sources: list[str] = Field(default_factory=list, description="where the measurements behind it were published")


class CeilingRecord(_Record):
    """What can be carried; null where it is not known to be limited. `sustained_*` is carried without end, the rest
    while credits last. Operations of more than `io_kib` count as several. Where writes have a limit of their own, all
    figures but `write_*` are those of reads."""

    iops: float | None
    throughput_mib_s: float | None
    sustained_iops: float | None
    sustained_throughput_mib_s: float | None
    io_kib: float | None
    write_iops: float | None = Field(
        default=None, description="what is carried where nothing is read; null where writes have no other limit"
    )
    write_throughput_mib_s: float | None = None


class CeilingsRecord(_Record):
    """The volume's ceiling as it is and as offered (null where nothing is), and that of its hosts together."""

    now: CeilingRecord
    offered: CeilingRecord | None
    hosts: CeilingRecord


class OfferRecord(_Record):
    """A configuration that was weighed, and why it was refused if it was."""

    spec: SpecRecord
    monthly_usd: float | None
    ceiling_iops: float
    ceiling_throughput_mib_s: float
    throttled_minutes: float | None
    refused: list[str]


class FailedMeasurementRecord(_Record):
    """What was measured here lately, delivered too little or too late, and so speaks against an offer of that type."""

    code: str = Field(description="failed-measurement, as in the reasons and in what an offer is refused for")
    volume_type: str
    measured_on: str = Field(description="ISO 8601")
    source: str = Field(description="what measured it, and where that can be opened")
    delivered_iops: float | None = Field(description="null where it delivered what is published")
    published_iops: float
    delivered_throughput_mib_s: float | None
    published_throughput_mib_s: float
    too_slow: bool = Field(description="whether it answered later than the policy allows")
    text: str


class BlockerRecord(_Record):
    """What forbids the change today."""

    code: str
    text: str


class FrontierStepRecord(_Record):
    """The cheapest configuration that throttles at most `budget_min` minutes in 30 days."""

    budget_min: float
    spec: SpecRecord
    monthly_usd: float
    throttled_minutes: float = Field(description="in the window")
    longest_wait_s: float
    at_most: bool = Field(description="not all minutes were read: price, minutes and wait may be less")


class EpochRecord(_Record):
    """A span of the window in which neither the volume's configuration nor its hosts changed."""

    start: str = Field(description="ISO 8601, UTC, in seconds")
    end: str
    spec: SpecRecord | None = Field(description="null where it is not known what the volume was")
    ceiling_iops: float | None
    ceiling_throughput_mib_s: float | None
    throttled_minutes: float


class WaitRecord(_Record):
    """Why a reduction cannot be judged yet, and from when on it can."""

    until: str = Field(description="the day to look again, ISO 8601")
    code: str
    expected: SpecRecord = Field(description="what would be recommended if what was seen so far is all")
    monthly_usd_saved: float = Field(description="by the expected configuration")


class SaferRecord(_Record):
    """The next level of safety."""

    promised_pct: float
    headroom_pct: float
    monthly_usd: float = Field(description="the most that the volume costs then")


class RiskRecord(_Record):
    """How likely the volume outgrows what is recommended, and what that rests on."""

    promised_pct: float | None = Field(
        description="at most that share of such volumes has more throttled minutes; null: nothing is promised"
    )
    minutes: float
    days: float
    history_days: float
    headroom_pct: float
    is_learned: bool = Field(description="whether the headroom was learned; if not, it is the policy's fixed one")
    learned_from: list[str]
    volumes: int
    public: bool = Field(description="whether the promise was learned from public fleets, not your own")
    text: str
    left_pct: float | None = Field(
        default=None,
        description="the headroom that is left over the most that is known; more than was asked for where what is free "
        "is enough, less than 0 where a single minute of the past was higher; the least where minutes were not read",
    )
    stratum: str | None = Field(
        default=None, description="the kind of owner that it was learned of; null where that is the whole fleet"
    )
    usual_share: float = Field(default=1.0, description="which share of the most that it did is usual for the volume")
    safer: SaferRecord | None = Field(default=None, description="null where no safer level is known")
    allowed_pct: float = Field(default=ALLOWED_PCT, description="the risk that the policy allows (risk_pct)")


class SignalsRecord(_Record):
    """How the volume and its host answered from `start` to `end`: the baseline to check a change against.

    Means, and the highest minutes. Mean latencies of reads and of writes are over their operations. Null where the
    cloud has no point of it, or does not publish it for such a volume.
    """

    start: str = Field(description="ISO 8601, UTC, in seconds")
    end: str
    days_observed: int = Field(default=0, description="every figure that is there rests on so many days at least")
    mean_read_latency_ms: float | None
    highest_read_latency_ms: float | None
    mean_write_latency_ms: float | None
    highest_write_latency_ms: float | None
    mean_io_latency_ms: float | None = Field(description="where the cloud does not tell reads from writes")
    highest_io_latency_ms: float | None
    mean_queue_length: float | None = Field(description="operations that wait or are under way")
    highest_queue_length: float | None
    stalled_minutes: float | None = Field(description="minutes in which no operation ended")
    degraded_minutes: float | None = Field(description="minutes in which the cloud said that the volume was impaired")
    host_iops_exceeded_minutes: float | None = Field(description="minutes above the host's maximum IOPS")
    host_throughput_exceeded_minutes: float | None
    host_iops_balance_pct: float | None = Field(description="the least that was left of the host's credits")
    host_throughput_balance_pct: float | None


class SecondsSeenRecord(_Record):
    """What the latest probe saw of the volume, second by second; null where its host does not count that."""

    began: str = Field(description="ISO 8601, UTC, in seconds")
    seconds: int = Field(description="looked at one by one")
    source: str = Field(description="nvme: EBS's own counts; diskstats: the kernel's")
    missed_s: int = Field(description="seconds in which the host was too busy: peaks may be higher")
    peak_iops: float = Field(description="the busiest second")
    peak_iops_at: str
    peak_throughput_mib_s: float
    peak_throughput_at: str
    p99_iops: float = Field(description="99 % of the seconds had at most that, to the bins of 10 %")
    p99_throughput_mib_s: float
    mean_queue: float
    most_queue: int
    exceeded_volume_iops_s: float | None = Field(description="for how long more was asked for than the volume allows")
    exceeded_volume_throughput_s: float | None
    exceeded_host_iops_s: float | None
    exceeded_host_throughput_s: float | None
    p99_read_latency_us: int | None = Field(description="99 % of the reads took at most that")
    p99_write_latency_us: int | None
    mean_latency_us: float | None
    title: str
    lines: list[str] = Field(description="the same in sentences, with the seconds above what the offer would sustain")


RateSide = Literal["IOPS", "MiB/s"]


class EventRecord(_Record):
    """The highest mean of the memory that spoke against a reduction."""

    side: RateSide
    rate: float
    start: str = Field(description="ISO 8601, UTC, in seconds")
    minutes: float = Field(
        description="how long it lasted on that day, in buckets of five minutes or an hour; 1: a single minute"
    )
    days: int = Field(description="days that are known to have had what spoke against it")
    rhythm: str | None = Field(description="what those days have in common; null where nothing is seen")


class PastPeaksRecord(_Record):
    """The highest minutes of the four busiest days of each block of `days`, the highest first, the latest block first;
    null where they are not known.

    Headroom is learned of these. `free_*` is what the offered type carries without being asked for more.
    """

    days: int
    iops: list[list[float] | None]
    throughput_mib_s: list[list[float] | None]
    free_iops: float
    free_throughput_mib_s: float
    ceiling_iops: float
    ceiling_throughput_mib_s: float


class MemoryRecord(_Record):
    """The time before the window that was asked whether it speaks against a reduction."""

    start: str = Field(description="ISO 8601, UTC, in seconds")
    end: str
    days: int = Field(description="days with any datapoint, as far as was read")
    instead_of: SpecRecord | None = Field(description="what the window alone asks for; null: nothing speaks against it")
    event: EventRecord | None
    peaks: PastPeaksRecord | None = Field(default=None, description="null where an earlier version wrote it")


class GrowthRecord(_Record):
    """How fast demand grows, where the headroom keeps room for that."""

    iops_pct_a_day: float = Field(description="more operations each day, in percent of the last two weeks; 0: none")
    throughput_pct_a_day: float = Field(description="more bytes each day, likewise")
    weeks: int = Field(description="weeks that were held against one another")
    headroom_pct: float = Field(description="with room for growth_days of it, a third of these for relief")


class LossRecord(_Record):
    """What a change gives up beside IOPS and MiB/s: as it is now, and as it would be then."""

    code: LossCode
    now: str
    then: str


class OwnerRecord(_Record):
    """Who made the volume and would change it."""

    kind: str
    name: str | None


class StripeSetRecord(_Record):
    """The stripe set that a volume is decided with; its money is that of all members, each of which has a part."""

    name: str
    level: str
    host: str
    mounts: list[str]
    members: list[str]
    held_back_by: dict[str, str] = Field(description="the members that must stay as they are, with the reason")
    monthly_usd_now: float | None = Field(description="null where a member could not be decided or has no price")
    monthly_usd_then: float | None
    monthly_usd_saved: float | None


class TakeoverRecord(_Record):
    """The volume that this one takes over from, or is suspected to, and what that will carry by its own answer."""

    volume_id: str
    told_by: str = Field(description="tag, stateful-set, blue-green, auto-scaling; name: only suspected")
    name: str = Field(description="by which it is told, such as a tag and its value")
    iops: float | None = Field(description="null where it is not known what the other will carry")
    throughput_mib_s: float | None


class TemplateOfferRecord(_Record):
    """What carries one volume's own demand for less, however little it saves, with its price in three parts."""

    spec: SpecRecord
    monthly_usd_size: float = Field(description="what is not for provisioned IOPS or MiB/s; six decimals, as the next")
    monthly_usd_iops: float
    monthly_usd_throughput: float
    most_iops: int | None = Field(description="that can be bought at the volume's size; null: none are provisioned")
    most_throughput_mib_s: int | None


class TemplateRecord(_Record):
    """What made a volume with others like it, and what the volume brings to one change of them all.

    run.json has these changes as `templates`. A volume with neither `offer` nor `held` is not judged yet.
    """

    kind: str
    name: str
    device: str
    monthly_usd_now: float | None = Field(description="six decimals")
    least_monthly_usd: float = Field(description="the least saving that the policy asks of the change")
    least_hours: float = Field(description="the hours that have to be observed of all together")
    together: bool = Field(description="the volume is too new to be judged alone")
    offer: TemplateOfferRecord | None
    held: str | None = Field(description="why this volume, and so its template, stays as it is")


class TooRiskyRecord(_Record):
    """The reduction that would be recommended if the policy allowed its risk. Its money is in no saving."""

    spec: SpecRecord
    monthly_usd: float
    monthly_usd_saved: float = Field(description="less than today")
    cuts: list[RateSide] = Field(description="the limits that are lower than the present volume's")
    risk: RiskRecord | None = Field(description="null where nothing was learned")


def earlier_codes(fields: Mapping[str, Any]) -> list[str]:
    """The codes of the reasons that an earlier version wrote, which gave them none."""
    return [EARLIER] * len(fields["reasons"])


def earlier_cuts(fields: Mapping[str, Any]) -> list[RateSide]:
    """The limits that a change of an earlier version lowers; none where it is what keeps today's limits."""
    current, target, kept = fields["current"], fields["target"], fields["drop_in"]
    if fields["action"] not in CHANGES or target is None or (kept is not None and kept.spec == target):
        return []
    types = cloud_types(fields["provider"])
    return cast("list[RateSide]", list(published_cuts(current.spec, target.spec, types)))


def earlier_losses(fields: Mapping[str, Any]) -> list[LossRecord]:
    """The losses of a change of an earlier version, by the configurations that it recorded."""
    current, target = fields["current"], fields["target"]
    if fields["action"] not in CHANGES or target is None:
        return []
    cuts = earlier_cuts(fields)
    losses = find_losses(current.spec, target.spec, cloud_types(fields["provider"]), cuts)
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


class RecommendationRecord(_Record):
    """One volume's recommendation."""

    account: str
    region: str
    zone: str
    volume_id: str
    name: str | None
    hosts: list[str]
    action: Action
    current: SpecRecord
    target: SpecRecord | None
    monthly_usd_now: float | None = Field(description="null where the region has no price for the present type")
    monthly_usd_then: float | None
    monthly_usd_saved: float
    monthly_usd_saved_drop_in: float = Field(
        description="what the same-limits replacement alone would save",
        validation_alias=AliasChoices("monthly_usd_saved_drop_in", OLD_KEYS["monthly_usd_saved_drop_in"]),
    )
    drop_in: OfferRecord | None = Field(
        description="the same-limits replacement: the cheapest offer that keeps the IOPS and MiB/s of today",
        validation_alias=AliasChoices("drop_in", OLD_KEYS["drop_in"]),
    )
    demand: DemandRecord | None
    replay: ReplayRecord | None
    evidence: EvidenceRecord | None
    offers: list[OfferRecord]
    blockers: list[BlockerRecord]
    reasons: list[str]
    owner: OwnerRecord
    change: str = Field(description="how the owner makes the change")
    way_back: str = Field(default="", description="how the owner takes it back; empty in runs of earlier versions")
    stripe_set: StripeSetRecord | None = Field(
        default=None, description="the volumes that are changed together with this one; null where none is known"
    )
    ceilings: CeilingsRecord | None = Field(default=None, description="null where nothing was weighed")
    created: str | None = Field(default=None, description="when the volume was made: ISO 8601, UTC, in seconds")
    tags: dict[str, str] = Field(
        default_factory=dict, description="the tags that the policy shows (show_tags), without Name, which is `name`"
    )
    provider: str = Field(default=FIRST_PROVIDER, description="the volume's cloud: aws or google")
    frontier: list[FrontierStepRecord] = Field(
        default_factory=list,
        description="what each number of throttled minutes would cost; empty where it saves little",
    )
    epochs: list[EpochRecord] = Field(default_factory=list, description="oldest first; together they are the window")
    wait: WaitRecord | None = Field(default=None, description="null where the action is another one")
    relief: OfferRecord | None = Field(
        default=None, description="what would end frequent throttling, where something else is recommended"
    )
    idle_days: int | None = Field(
        default=None,
        description="for how many days it is known to have done nothing, although it is attached; null: it did "
        "something lately or at the last quarter's end, or that is not known",
    )
    full_limits: OfferRecord | None = Field(
        default=None,
        description="what keeps also the limits that the present host cannot carry, where `drop_in` does not",
    )
    signals: SignalsRecord | None = Field(default=None, description="null where none were read")
    memory: MemoryRecord | None = Field(default=None, description="null where the past had no say")
    growth: GrowthRecord | None = Field(default=None, description="null where no room for any is kept")
    risk: RiskRecord | None = Field(
        default=None, description="null where nothing is reduced, or all that the volume can do is kept"
    )
    too_risky: TooRiskyRecord | None = Field(
        default=None, description="null where no reduction is left out because of its risk"
    )
    pool: list[str] = Field(
        default_factory=list,
        description="the other volumes of its host that share one ceiling with it, and change with it or not at all",
    )
    takeover: TakeoverRecord | None = Field(
        default=None, description="null where it takes over from none that asks for more than it is left with"
    )
    template: TemplateRecord | None = Field(
        default=None, description="null where no template is known to have made it, or nothing was weighed"
    )
    seconds_seen: SecondsSeenRecord | None = Field(default=None, description="null where it was never probed")
    failed_measurements: list[FailedMeasurementRecord] = Field(
        default_factory=list, description="what was measured here and refused an offer, or made it larger"
    )
    reason_codes: list[str] = Field(
        default_factory=earlier_codes, description="the code of each of `reasons`, in their order"
    )
    cuts: list[RateSide] = Field(
        default_factory=earlier_cuts, description="the limits that are lower than the present volume's; none: all kept"
    )
    losses: list[LossRecord] = Field(
        default_factory=earlier_losses, description="what is given up beside IOPS and MiB/s; none: a drop-in"
    )

    @property
    def kind(self) -> Kind:
        """The row of its action in the table of kinds."""
        return KINDS[self.action]


SpanRates = list[float | None]
"""A rate in each span, to four significant digits; null where nothing was observed."""


class DemandProfileRecord(BaseModel):
    """A volume's demand in consecutive spans from `start_s` (epoch seconds) on; lists have one element a span."""

    model_config = ConfigDict(extra="forbid", defer_build=True, frozen=True)

    account: str
    region: str
    volume_id: str
    start_s: int
    length_s: list[int]
    shortest_s: list[int] = Field(description="the shortest bucket that was read in each span")
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
    sized: list[bool] = Field(description="whether the means tell a size of I/O, being of the very same time")
    throttled_minutes: list[float]
    host_bound_minutes: list[float]


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
