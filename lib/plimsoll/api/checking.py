"""The check of a planned change: a plan held against the demand that a run observed.

A limit that is no lower than the run's own recommendation is never called too low: the run has proved that one. On a
side that is lower, and lower than today, the plan throttles if the volume did more there than its ceiling carries. It
is tight if that leaves less headroom than the policy asks for. Demand in the window and in the memory before it counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.api.planned import PlannedVolume, read_planned
from plimsoll.api.runs import run_folder
from plimsoll.clouds.common.dated_data import given_prices, volume_types
from plimsoll.decide.offers import find_cuts, find_losses, find_shortfalls, fit_spec
from plimsoll.demand.trial import spend_credits
from plimsoll.model.ceiling import PLAIN, RESOURCES, Ceiling, Need, Resource
from plimsoll.model.errors import BadInput
from plimsoll.model.kinds import CHANGES, SILENT, UPGRADE
from plimsoll.model.market import PriceBook, VolumeType
from plimsoll.model.policy import Headroom, Policy
from plimsoll.model.volume import VolumeSpec
from plimsoll.policy_file import parse_policy
from plimsoll.reports import run_reader
from plimsoll.reports.findings import VERDICTS, PlanCheck, PlanFinding
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.wording import count_of, join_words, spec_text, usd

_HOURS_A_DAY: Final = 24
_CENT: Final = 0.01


def check_plan(plan: Path, run: Path | None = None) -> PlanCheck:
    """Holds a plan's volumes against a run, the newest that has answers if none is named.

    BadInput if the plan or the run cannot be read.
    """
    volumes = read_planned(plan)
    folder = run_folder(run)
    record = run_reader.read_run(folder)
    known = _find_known(folder, {key for volume in volumes for key in (volume.volume_id, volume.template) if key})
    policy, prices = parse_policy(record.policy), record.scope.get("prices")
    findings = [judge_planned(volume, known, policy, prices) for volume in volumes]
    as_of = f"{record.as_of:%Y-%m-%d %H:%M} UTC"
    return PlanCheck(plan=str(plan), run=str(folder), as_of=as_of, findings=findings)


@dataclass(frozen=True, slots=True)
class KnownVolumes:
    """The volumes of a plan that a run knows, by id and, for Google, by the disk's path; `made` by their template."""

    records: Mapping[str, RecommendationRecord]
    profiles: Mapping[str, DemandProfileRecord]
    unanswered: Mapping[str, str]
    made: Mapping[str, Sequence[RecommendationRecord]] = field(default_factory=dict)


def _find_known(folder: Path, ids: set[str]) -> KnownVolumes:
    """Reads of a run what it knows of these volumes, one by one: memory is for the plan's."""
    records: dict[str, RecommendationRecord] = {}
    made: dict[str, list[RecommendationRecord]] = {}
    for record in run_reader.stream_records(folder):
        records |= dict.fromkeys({record.volume_id, _disk(record)} & ids, record)
        if record.template is not None and record.template.name in ids:
            made.setdefault(record.template.name, []).append(record)
            records[record.volume_id] = record
    names = {run_reader.full_name(record) for record in records.values()}
    profiles = run_reader.stream_profiles(folder) if names else iter(())
    return KnownVolumes(
        records=records,
        profiles={name: profile for profile in profiles if (name := run_reader.full_name(profile)) in names},
        unanswered={row.volume_id: row.reason for row in run_reader.stream_unanswered(folder) if row.volume_id in ids},
        made=made,
    )


def _disk(record: RecommendationRecord) -> str:
    """The path of a Google disk, as Terraform has it for an id."""
    return f"projects/{record.account}/zones/{record.zone}/disks/{record.name}"


def judge_planned(volume: PlannedVolume, known: KnownVolumes, policy: Policy, prices: str | None = None) -> PlanFinding:
    """The finding on one planned volume, by a run's policy, and its price file if it had one."""
    if volume.template is not None:
        return _judge_template(volume, known, policy, prices)
    if volume.volume_id is None and volume.before is None:
        return _find(volume, "new", "It is new, and has no demand yet: audit it after some days.")
    if volume.after is None:
        return _find(volume, "unknown", f"The plan does not say which configuration it gets ({volume.unclear}).")
    record = known.records.get(volume.volume_id or "")
    if record is None:
        reason = known.unanswered.get(volume.volume_id or "")
        why = f"has no recommendation for it: {reason}" if reason else "does not know it: audit its account and region"
        return _find(volume, "unknown", f"The run {why}.")
    kind = volume_types(volume.cloud).get(volume.after.type)
    if kind is None or record.current.type not in volume_types(volume.cloud):
        return _find(volume, "unknown", f"No limits are published here for {volume.after.type}: update Plimsoll.")
    case = _Case(
        planned=volume.after,
        kind=kind,
        before=volume.before,
        record=record,
        profile=known.profiles.get(run_reader.full_name(record)),
        types=volume_types(volume.cloud),
        policy=policy.apply_overrides(record.tags),
        prices=prices,
    )
    verdict, text = case.judge()
    return _find(volume, verdict, text, case)


def _judge_template(volume: PlannedVolume, known: KnownVolumes, policy: Policy, prices: str | None) -> PlanFinding:
    """The worst finding on the volumes of a template at a device, if each became like the next one."""
    made = [
        replace(volume, volume_id=record.volume_id, template=None)
        for record in known.made.get(volume.template or "", ())
        if record.template is not None and record.template.device == volume.device
    ]
    if not made:
        return _find(volume, "unknown", "The run does not say which volumes this template made.")
    findings = [judge_planned(member, known, policy, prices) for member in made]
    worst = min(findings, key=lambda finding: list(VERDICTS).index(finding.verdict))
    return replace(worst, text=f"Of {count_of(len(made), 'volume')} of this template: {worst.text}")


def _find(volume: PlannedVolume, verdict: str, text: str, case: "_Case | None" = None) -> PlanFinding:
    notes = [" The plan replaces the volume."] if volume.replaced else []
    if case is not None and case.is_drifted:
        notes.append(f" The run saw it as {spec_text(case.record.current)}.")
    return PlanFinding(
        address=volume.address,
        verdict=verdict,
        text="".join([text, *notes]),
        volume=run_reader.full_name(case.record) if case else volume.volume_id,
        before=volume.before,
        planned=volume.after,
        better=case.better if case and verdict in {"oversized", "reverts"} else None,
        planned_usd_month=case.planned_usd_month if case else None,
        saved_usd_month=case.saved_usd_month if case and verdict in {"oversized", "reverts"} else None,
    )


@dataclass(frozen=True)
class _SeenRate:
    """The demand on a side: it was at least `least`, `when` says on which day, and never above `most`, in `days`."""

    least: float
    most: float
    when: str
    days: float


@dataclass(frozen=True)
class _Case:
    """A planned configuration of a published type, with what the run knows of its volume."""

    planned: VolumeSpec
    kind: VolumeType
    before: VolumeSpec | None
    record: RecommendationRecord
    profile: DemandProfileRecord | None
    types: Mapping[str, VolumeType]
    policy: Policy
    prices: str | None

    def judge(self) -> tuple[str, str]:
        """The verdict, with its reason in words."""
        if self._is_as_recommended:
            return "as-recommended", f"It becomes {spec_text(self.planned)}, as the run recommends.{self._losses}"
        if self._is_group_needed:
            others = count_of(len(self.record.pool), "other disk")
            return "unknown", f"It shares one ceiling with {others} of its host: only the group can be judged."
        throttles = list(self._find_passed_limits())
        if throttles:
            return "throttles", f"It {'. It '.join(throttles)}.{self._losses}"
        return self._judge_demand() if self._is_known else self._judge_limits()

    def _judge_limits(self) -> tuple[str, str]:
        """The verdict where too little is known of demand: only what keeps every limit is fine."""
        lowered = join_words(self._cuts_of(self._present))
        if lowered:
            return "unknown", f"It lowers {lowered}, and too little is known: {self._reason}"
        return "fine", f"It keeps today's limits; whether they are needed is unknown: {self._reason}"

    def _judge_demand(self) -> tuple[str, str]:
        """The verdict on what does not throttle, by the volume's demand and money."""
        if self._is_reverted and self.record.action == UPGRADE:
            return "throttles", f"It goes back to {spec_text(self.planned)}, which throttled.{self._losses}"
        if self._is_reverted:
            return "reverts", f"It goes back from {spec_text(self.better)}, which was recommended{self._saving}."
        tight = list(self._find_tight_limits())
        if tight:
            return "tight", f"It leaves too little headroom: {'; '.join(tight)}.{self._losses}"
        return self._judge_money()

    def _judge_money(self) -> tuple[str, str]:
        """The verdict on what carries the demand: by what it costs beside the run's own configuration."""
        if self.saved_usd_month is None and find_cuts(self._ceiling_of(self.better), self.ceiling):
            verdict = "oversized" if self.better.type == self.planned.type else "unknown"
            text = f"It sets more than needed: {self._demand_text}; {spec_text(self.better)} carries it"
            return verdict, f"{text}. What it costs is not known."
        if (self.saved_usd_month or 0.0) >= max(_CENT, self.policy.min_saving_usd_month):
            text = f"It sets {spec_text(self.planned)}; {self._demand_text}: {spec_text(self.better)} carries it"
            return "oversized", f"{text}{self._saving}."
        return "fine", f"It carries what was seen: {self._demand_text}.{self._losses}"

    # ---- what is held against what

    @cached_property
    def ceiling(self) -> Ceiling:
        """The published ceiling of the plan, and no more than the run believed of the type on these hosts."""
        return self._ceiling_of(self.planned)

    def _ceiling_of(self, spec: VolumeSpec) -> Ceiling:
        kind, ceiling = self.types[spec.type], self.types[spec.type].ceiling(spec)
        for offer in (offer for offer in self.record.offers if offer.spec.type == spec.type):
            published = kind.ceiling(offer.spec.spec)
            if offer.ceiling_iops < published.iops - _CENT:
                ceiling = replace(ceiling, iops=min(ceiling.iops, offer.ceiling_iops))
            if offer.ceiling_throughput_mib_s < published.throughput_mib_s - _CENT:
                believed_mib_s = min(ceiling.throughput_mib_s, offer.ceiling_throughput_mib_s)
                ceiling = replace(ceiling, throughput_mib_s=believed_mib_s)
        return ceiling

    @property
    def _present(self) -> VolumeSpec:
        return self.record.current.spec

    @property
    def _now(self) -> Ceiling:
        return self._ceiling_of(self._present)

    @property
    def _target_spec(self) -> VolumeSpec:
        """The configuration that the run recommends, the present one if that is to stay."""
        is_change = self.record.action in CHANGES and self.record.target is not None
        return self.record.target.spec if is_change and self.record.target else self._present

    @property
    def better(self) -> VolumeSpec:
        """The recommended configuration at the planned size, which is for the owner to choose."""
        spec = self._target_spec
        kind, size_gib = self.types[spec.type], max(self.planned.size_gib, spec.size_gib)
        need = Need(iops=spec.iops or 0, throughput_mib_s=spec.throughput_mib_s or 0)
        return spec if size_gib == spec.size_gib else fit_spec(kind, size_gib, need)

    def _cuts_of(self, spec: VolumeSpec) -> tuple[str, ...]:
        """The limits that the plan has lower than a configuration."""
        return find_cuts(self.ceiling, self._ceiling_of(spec))

    @property
    def _is_as_recommended(self) -> bool:
        return self.record.action in CHANGES and self.planned == self.better

    @property
    def _is_reverted(self) -> bool:
        is_back = self.before == self._target_spec and self.planned == self._present
        return self.record.action in CHANGES and is_back

    @property
    def is_drifted(self) -> bool:
        """True if the plan begins at neither what the run saw nor what it recommends."""
        return self.before not in {None, self._present, self._target_spec}

    @property
    def _is_group_needed(self) -> bool:
        """True if the type shares its ceiling over a host, unless the plan only makes the disk larger."""
        grows = self.planned.type == self.record.current.type and self.planned.size_gib >= self.record.current.size_gib
        return bool(self.record.pool) and self.kind.pooled and not grows

    @property
    def _is_known(self) -> bool:
        return self.record.demand is not None and self.record.action not in SILENT

    @property
    def _reason(self) -> str:
        return self.record.reasons[0] if self.record.reasons else f"the run says {self.record.action}."

    # ---- demand

    @cached_property
    def _demand_by_side(self) -> Mapping[Resource, _SeenRate]:
        return {side: self._see(side) for side in RESOURCES}

    def _see(self, side: Resource) -> _SeenRate:
        """The most that the volume is known to have done on a side, in the window and before."""
        demand, memory = self.record.demand, self.record.memory
        if demand is None:
            return _SeenRate(least=0.0, most=np.inf, when="", days=0.0)
        name = "iops" if side is Resource.IOPS else "throughput_mib_s"
        seen = _SeenRate(
            least=getattr(demand, f"least_peak_{name}"),
            most=max(getattr(demand, f"peak_{name}"), getattr(demand, f"peak_second_{name}") or 0.0),
            when=self._day_of_peak(f"peak_{name}"),
            days=demand.hours_observed / _HOURS_A_DAY,
        )
        if memory is None:
            return seen
        blocks = getattr(memory.peaks, name) if memory.peaks else []
        event = memory.event.rate if memory.event is not None and memory.event.side == side.unit else 0.0
        past = max([event, *(rate for block in blocks for rate in block or ())])
        if past > seen.least:
            is_dated = memory.event is not None and event == past
            when = f" on {memory.event.start[:10]}" if is_dated and memory.event else f" before {memory.end[:10]}"
            seen = replace(seen, least=past, most=max(past, seen.most), when=when)
        return replace(seen, days=seen.days + memory.days) if blocks and None not in blocks else seen

    def _day_of_peak(self, field: str) -> str:
        """The day of the highest span, as a sentence goes on; empty if the run has no profile."""
        peaks = np.array(getattr(self.profile, field) if self.profile else [], dtype=np.float64)
        if self.profile is None or np.isnan(peaks).all():
            return ""
        at_s = self.profile.start_s + sum(self.profile.length_s[: int(np.nanargmax(peaks))])
        return f" on {datetime.fromtimestamp(at_s, UTC).date().isoformat()}"

    @property
    def _demand_text(self) -> str:
        iops, throughput = (self._demand_by_side[side] for side in RESOURCES)
        days = min(iops.days, throughput.days)
        return (
            f"the volume never passed {iops.most:,.0f} IOPS and {throughput.most:,.0f} MiB/s "
            f"in {count_of(max(1, round(days)), 'day')}"
        )

    def _find_passed_limits(self) -> Iterator[str]:
        """Yields the limits that the plan lowers and the volume is known to have passed."""
        lower = {*self._cuts_of(self._target_spec)} & {*self._cuts_of(self._present)}
        plain = self.ceiling.counted_as(PLAIN)
        for side in (side for side in RESOURCES if side.unit in lower and self.record.demand is not None):
            seen = self._demand_by_side[side]
            if any(find_shortfalls("", plain, _need_of(side, seen.least))):
                yield f"sets {plain.limit(side):,.0f} {side.unit}; the volume did {seen.least:,.0f}{seen.when}"
            elif self._is_spent(plain, side):
                yield f"runs out of credits, and sustains {_sustained_rate(plain, side):,.0f} {side.unit} then"

    def _is_spent(self, ceiling: Ceiling, side: Resource) -> bool:
        """True if the means of the profile spend all credits of a side, however the work came."""
        if self.profile is None:
            return False
        rates = self.profile.iops if side is Resource.IOPS else self.profile.throughput_mib_s
        mean, lengths_s = np.nan_to_num(np.array(rates, dtype=np.float64)), np.array(self.profile.length_s)
        buckets = [bucket for bucket in ceiling.buckets if bucket.resource is side]
        return any(spend_credits(mean, bucket, lengths_s).max(initial=0.0) > bucket.capacity for bucket in buckets)

    def _find_tight_limits(self) -> Iterator[str]:
        """Yields the limits of the plan that leave less headroom than is asked for."""
        lower, demand, takeover = self._cuts_of(self._target_spec), self.record.demand, self.record.takeover
        if lower and demand and self.record.action == UPGRADE and not find_cuts(self._now, self.ceiling):
            yield f"no more than today, when it throttled for {demand.throttled_minutes:,.0f} minutes"
        read_share = 1.0 if demand is None or demand.read_share is None else demand.read_share
        accounting = self.ceiling.accounting
        costs = accounting.mean_iops_cost(read_share), accounting.mean_throughput_cost(read_share)
        peers = (takeover.iops or 0.0, takeover.throughput_mib_s or 0.0) if takeover else (0.0, 0.0)
        for side, cost, peer in zip(RESOURCES, costs, peers, strict=True):
            most = self._demand_by_side[side].most
            needed = max(self._headroom_factor * most * cost, peer)
            if side.unit in lower and any(find_shortfalls("", self.ceiling, _need_of(side, needed))):
                limit = f"{self.ceiling.limit(side):,.0f} {side.unit}"
                yield f"{limit}, where up to {most:,.0f} were seen and {needed:,.0f} are asked for"

    @property
    def _headroom_factor(self) -> float:
        return self.record.headroom_factor or Headroom.from_policy(self.policy).factor

    # ---- money

    @cached_property
    def planned_usd_month(self) -> float | None:
        """The price of the plan in the run's own prices; None if those are not known here."""
        return self._usd_month(self.planned)

    @cached_property
    def saved_usd_month(self) -> float | None:
        """The saving of the run's own configuration beside the plan; None if a price is not known."""
        better = self._usd_month(self.better)
        return None if better is None or self.planned_usd_month is None else round(self.planned_usd_month - better, 2)

    def _usd_month(self, spec: VolumeSpec) -> float | None:
        recorded = {priced: price for priced, price in self._recorded_prices if price is not None}
        if spec in recorded:
            return recorded[spec]
        price = None if self._book is None else self._book.usd_month(spec, mean_iops=self._mean_iops)
        return None if price is None else round(price, 2)

    @property
    def _recorded_prices(self) -> Sequence[tuple[VolumeSpec, float | None]]:
        """The configurations whose price the run recorded."""
        record = self.record
        offers = [(offer.spec.spec, offer.monthly_usd) for offer in record.offers]
        target = [(record.target.spec, record.monthly_usd_then)] if record.target else []
        return [(self._present, record.monthly_usd_now), *target, *offers]

    @property
    def _mean_iops(self) -> float:
        return self.record.demand.mean_iops if self.record.demand else 0.0

    @cached_property
    def _book(self) -> PriceBook | None:
        """The prices that are known here, if they are the run's: they give every price that it recorded."""
        book = _find_book(self.prices, self.record.provider, self.record.region)
        if book is None:
            return None
        book = replace(book, discounts_pct=self.policy.discounts_pct)
        recorded = [(spec, price) for spec, price in self._recorded_prices if price is not None]
        pairs = [(book.usd_month(spec, mean_iops=self._mean_iops), price) for spec, price in recorded]
        is_same = bool(pairs) and all(here is not None and abs(here - price) < _CENT for here, price in pairs)
        return book if is_same else None

    @property
    def _saving(self) -> str:
        saved = self.saved_usd_month
        return f" and saves {usd(saved)} a month" if saved is not None and saved > 0 else ""

    @property
    def _losses(self) -> str:
        losses = find_losses(self._present, self.planned, self.types, self._cuts_of(self._present))
        texts = [loss.text for loss in losses]
        return f" It gives up {join_words(texts)}." if texts else ""


@cache
def _find_book(prices: str | None, provider: str, region: str) -> PriceBook | None:
    """The prices of a region that are known here, by the price file of a run if it had one; None if there are none."""
    try:
        return given_prices(prices, provider).book(region)
    except BadInput:  # the file has gone since: only what the run recorded is known
        return None


def _need_of(side: Resource, rate: float) -> Need:
    return Need(iops=rate) if side is Resource.IOPS else Need(throughput_mib_s=rate)


def _sustained_rate(ceiling: Ceiling, side: Resource) -> float:
    return ceiling.sustained_iops if side is Resource.IOPS else ceiling.sustained_throughput_mib_s
