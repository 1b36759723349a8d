"""A run beside the advice of the cloud's own tool: who says what of each volume, and which demand explains it.

What the tool's configuration would have held back is found by the domain's ceilings and shortfalls, of the demand that
the run recorded.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.decide.offers import find_losses, find_shortfalls, published_cuts
from plimsoll.model.ceiling import RESOURCES, Ceiling, Need, Resource
from plimsoll.model.kinds import CHANGES, CountsAs
from plimsoll.model.market import VolumeType, type_of
from plimsoll.model.policy import Headroom
from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Advice
from plimsoll.reports.data.exports import json_list
from plimsoll.reports.markdown.markup import fitting, name, prose, table
from plimsoll.reports.printable import printable
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import UnansweredRecord, full_name, matched_records, stream_unanswered
from plimsoll.reports.terminal.plot import plain_table
from plimsoll.reports.wording import count_of, spec_text, usd

TOOL: Final = "Compute Optimizer"
SAME_USD: Final = 0.05
"""Savings that differ by no more are the same: price lists and months are rounded differently."""

_UNNAMED: Final = f"{TOOL} has none for it: it has seen too little of the volume, or does not advise on such volumes."
_IN_MARKDOWN: Final = 50
_OTHER: Final = {Resource.IOPS: Resource.THROUGHPUT, Resource.THROUGHPUT: Resource.IOPS}


class AdviceVerdict(StrEnum):
    """The outcomes of a comparison, in the order in which they are shown."""

    WOULD_THROTTLE = "would-throttle"
    THEIRS_CHEAPER = "theirs-cheaper"
    OURS_CHEAPER = "ours-cheaper"
    OTHER = "other"
    CHANGED = "changed"
    OURS_NONE = "ours-none"
    THEIRS_NONE = "theirs-none"
    SAME = "same"


VERDICT_WORDS: Final[Mapping[AdviceVerdict, str]] = {
    AdviceVerdict.WOULD_THROTTLE: f"{TOOL}'s would have throttled the volume",
    AdviceVerdict.THEIRS_CHEAPER: f"{TOOL}'s costs less, and carries what was seen",
    AdviceVerdict.OURS_CHEAPER: "Plimsoll's costs less",
    AdviceVerdict.OTHER: "another configuration of the same cost, or of a cost that is not known",
    AdviceVerdict.CHANGED: "the volume was changed between the two",
    AdviceVerdict.OURS_NONE: "Plimsoll recommends nothing yet",
    AdviceVerdict.THEIRS_NONE: f"{TOOL} has no recommendation",
    AdviceVerdict.SAME: "both say the same",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A volume with the tool's advice and the run's own configuration (None: there is none), and why they differ."""

    account: str
    region: str
    volume_id: str
    name: str | None
    verdict: AdviceVerdict
    why: str
    advice: Advice | None
    ours: VolumeSpec | None = None
    ours_saves: float | None = None

    @property
    def theirs(self) -> VolumeSpec | None:
        """The tool's configuration."""
        return None if self.advice is None else self.advice.target

    @property
    def theirs_saves(self) -> float | None:
        """The saving by the tool's configuration as the tool says, USD a month."""
        return None if self.advice is None else self.advice.usd_month_saved

    @property
    def weight(self) -> float:
        """The money between both, by which the volumes of a verdict are sorted."""
        return abs((self.theirs_saves or 0.0) - (self.ours_saves or 0.0))

    @property
    def plain(self) -> dict[str, Any]:
        """The same in plain values."""
        return {
            **{key: getattr(self, key) for key in ("account", "region", "volume_id", "name", "verdict", "why")},
            "theirs": _plain_spec(self.theirs),
            "theirs_monthly_usd_saved": self.theirs_saves,
            "theirs_performance_risk": None if self.advice is None else self.advice.performance_risk,
            "theirs_days": None if self.advice is None else self.advice.days,
            "ours": _plain_spec(self.ours),
            "ours_monthly_usd_saved": self.ours_saves,
        }


def compare_volume(
    record: RecommendationRecord,
    profile: DemandProfileRecord | None,
    advice: Advice | None,
    *,
    types: Mapping[str, VolumeType],
    headroom: Headroom,
    missing: str = "",
) -> Compared:
    """A volume's recommendation beside the tool's.

    `missing` says why there is no advice, if that is known. `headroom` is the policy's.
    """
    pair = _Pair(record, profile, types, headroom)
    verdict, why = pair.judge(advice) if advice is not None else (AdviceVerdict.THEIRS_NONE, missing or _UNNAMED)
    return Compared(
        account=record.account,
        region=record.region,
        volume_id=record.volume_id,
        name=record.name,
        verdict=verdict,
        why=why,
        advice=advice,
        ours=None if pair.is_open else pair.ours,
        ours_saves=None if pair.is_open or record.monthly_usd_now is None else record.monthly_usd_saved,
    )


def compare_unanswered(volume: UnansweredRecord, advice: Advice | None) -> Compared:
    """A volume that the run has no answer for."""
    return Compared(
        account=volume.account,
        region=volume.region,
        volume_id=volume.volume_id,
        name=None,
        verdict=AdviceVerdict.OURS_NONE,
        why=f"{volume.outcome}: {volume.reason}",
        advice=advice,
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """A volume's answer and demand, by which the tool's configuration is judged."""

    record: RecommendationRecord
    profile: DemandProfileRecord | None
    types: Mapping[str, VolumeType]
    headroom: Headroom

    @property
    def ours(self) -> VolumeSpec:
        record = self.record
        return (record.target if record.target and record.action in CHANGES else record.current).spec

    def _ceiling(self, spec: VolumeSpec) -> Ceiling:
        """The published ceiling. Raises UnknownVolumeType for a type that this version does not know."""
        return type_of(spec, self.types).ceiling(spec)

    @property
    def is_open(self) -> bool:
        """True if the run recommends neither a change nor to keep the volume."""
        return self.record.kind.money in {CountsAs.LATER, CountsAs.UNKNOWN}

    def judge(self, advice: Advice) -> tuple[AdviceVerdict, str]:
        """The verdict on both, and the sentence that explains it."""
        record = self.record
        if advice.current != record.current.spec:
            seen = f"{TOOL} saw {spec_text(advice.current)}, the run {spec_text(record.current)}"
            return AdviceVerdict.CHANGED, f"{seen}: the older of the two is out of date."
        if self.is_open:
            return AdviceVerdict.OURS_NONE, _first_reason(record)
        return (AdviceVerdict.SAME, "") if advice.target == self.ours else self._judge_target(advice)

    def _judge_target(self, advice: Advice) -> tuple[AdviceVerdict, str]:
        """The same where the two recommend different configurations."""
        record, saves = self.record, advice.usd_month_saved
        if throttled := self._throttling(advice.target):
            return AdviceVerdict.WOULD_THROTTLE, throttled
        difference_usd = None if saves is None or record.monthly_usd_now is None else saves - record.monthly_usd_saved
        if difference_usd is None or abs(difference_usd) <= SAME_USD:
            return AdviceVerdict.OTHER, self._caution(advice.target)
        if difference_usd > 0:
            return AdviceVerdict.THEIRS_CHEAPER, self._caution(advice.target)
        return AdviceVerdict.OURS_CHEAPER, self._explain_saving()

    def _throttling(self, spec: VolumeSpec) -> str:
        """The demand that a configuration would have held back for certain; empty if none is known."""
        demand, ceiling = self.record.demand, self._ceiling(spec)
        if demand is None:
            return ""
        need = Need(
            iops=demand.least_peak_iops,
            throughput_mib_s=demand.least_peak_throughput_mib_s,
            sustained_iops=demand.mean_iops,
            sustained_throughput_mib_s=demand.mean_throughput_mib_s,
        )
        rates = {Resource.IOPS: need.iops, Resource.THROUGHPUT: need.throughput_mib_s}
        for side in RESOURCES:
            shortfalls = list(find_shortfalls(spec_text(spec), ceiling, need.without(_OTHER[side])))
            if shortfalls and rates[side] > (limit := ceiling.limit(side)):
                when = "" if self.profile is None else _date_peak(self.profile, side, limit)
                did = f"it did {rates[side]:,.0f} {side.unit}{when}"
                return f"{limit:,.0f} {side.unit} would have throttled the volume: {did}."
            if shortfalls:
                return f"Its credits would have run out: {shortfalls[0]}."
        lower = self._find_unrelieved(spec) if self.record.kind.money is CountsAs.MORE else ""
        minutes = f"{demand.throttled_minutes:,.0f} minutes of the window"
        return f"It does not end today's throttling, of {minutes}: {lower}." if lower else ""

    def _find_unrelieved(self, spec: VolumeSpec) -> str:
        """The limit that the run raises and a configuration leaves lower; empty if there is none."""
        now, then, ceiling = map(self._ceiling, (self.record.current.spec, self.ours, spec))
        for side in RESOURCES:
            relief = Need.from_ceiling(then).without(_OTHER[side])
            if any(find_shortfalls("", now, relief)):
                return next(find_shortfalls(spec_text(spec), ceiling, relief), "")
        return ""

    def _caution(self, spec: VolumeSpec) -> str:
        """The first reason why the run does not recommend a configuration that carries what was seen."""
        return next(self._cautions(spec), _first_reason(self.record))

    def _cautions(self, spec: VolumeSpec) -> Iterator[str]:
        record, demand = self.record, self.record.demand
        ceiling, rejected = self._ceiling(spec), record.too_risky
        if rejected is not None and rejected.spec.spec == spec:
            risk = rejected.risk and rejected.risk.promised_pct
            known = "not known" if risk is None else f"{risk:g} %, above what the policy allows"
            yield f"Plimsoll found the same, but the risk that the volume outgrows it is {known}."
        weighed = (*record.offers, record.drop_in, record.relief, record.full_limits)
        for offer in weighed:
            if offer is not None and offer.spec.spec == spec and offer.refused:
                yield f"Plimsoll weighed it and refused it: {offer.refused[0]}."
        if demand is not None:
            factor = self.headroom.factor
            need = Need(iops=demand.peak_iops * factor, throughput_mib_s=demand.peak_throughput_mib_s * factor)
            for shortfall in find_shortfalls(spec_text(spec), ceiling, need):
                yield f"It leaves less than {self.headroom.pct:g} % headroom: {shortfall}."
        if record.memory is not None and (event := record.memory.event) is not None:
            side = next(side for side in RESOURCES if side.unit == event.side)
            if event.rate > ceiling.limit(side):
                yield f"Before the window, on {event.start[:10]}, it did {event.rate:,.0f} {event.side}."
        now = record.current.spec
        for loss in find_losses(now, spec, self.types, published_cuts(now, spec, self.types)):
            if loss.code not in {ours.code for ours in record.losses}:
                yield f"It gives up {loss.text}."

    def _explain_saving(self) -> str:
        demand = self.record.demand
        if demand is None:
            return _first_reason(self.record)
        return (
            f"In {demand.hours_observed:,.0f} hours it never did more than {demand.peak_iops:,.0f} IOPS and "
            f"{demand.peak_throughput_mib_s:,.0f} MiB/s, which {spec_text(self.ours)} carries."
        )


def _first_reason(record: RecommendationRecord) -> str:
    return record.reasons[0] if record.reasons else record.kind.words


def _date_peak(profile: DemandProfileRecord, side: Resource, limit: float) -> str:
    """The time of the highest rate above a limit, and on how many days there was one; empty if no span has one."""
    rates, start_s = profile.peak_iops if side is Resource.IOPS else profile.peak_throughput_mib_s, profile.start_s
    above, days = list[tuple[float, int, int]](), set[str]()
    for rate, length_s in zip(rates, profile.length_s, strict=True):
        if rate is not None and rate > limit:
            above.append((rate, start_s, length_s))
            days.add(f"{_time(start_s):%Y-%m-%d}")
        start_s += length_s
    if not above:
        return ""
    _, at_s, length_s = max(above)
    hours = f" between {_time(at_s):%H:%M} and {_time(at_s + length_s):%H:%M} UTC" if length_s < DAY_S else ""
    return f" on {_time(at_s):%Y-%m-%d}{hours}, and more than {limit:,.0f} on {count_of(len(days), 'day')}"


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def compare_run(
    folder: Path,
    advice: Mapping[str, Advice],
    failed: Mapping[str, str],
    *,
    provider: str,
    types: Mapping[str, VolumeType],
    headroom: Headroom,
) -> list[Compared]:
    """A run's volumes in one cloud beside the tool's advice, by verdict, those first between which is most money.

    `advice` is by the volumes' full names. `failed` has the reasons why there is none, by full name or by place.
    """
    volumes = [
        compare_volume(
            record,
            profile,
            advice.get(full_name(record)),
            types=types,
            headroom=headroom,
            missing=failed.get(full_name(record)) or failed.get(f"{record.account}/{record.region}", ""),
        )
        for record, profile in matched_records(folder, lambda record: record.provider == provider)
    ]
    volumes += [
        compare_unanswered(volume, advice.get(full_name(volume)))
        for volume in stream_unanswered(folder)
        if volume.provider == provider
    ]
    order = list(AdviceVerdict)
    return sorted(volumes, key=lambda volume: (order.index(volume.verdict), -volume.weight, volume.volume_id))


def compared_json(run_id: str, volumes: Sequence[Compared], failed: Mapping[str, str]) -> Iterator[str]:
    """The comparison as JSON, a volume a line."""
    totals = {
        verdict: {"volumes": count, "theirs_monthly_usd_saved": theirs, "ours_monthly_usd_saved": ours}
        for verdict, count, theirs, ours in _totals(volumes)
    }
    head = {"run": run_id, "tool": TOOL, "failed": dict(failed), "verdicts": totals}
    begin = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}") + ',\n "volumes": ['
    return json_list((json.dumps(volume.plain, ensure_ascii=False) for volume in volumes), begin, "]}")


def compared_markdown(run_id: str, volumes: Sequence[Compared], failed: Mapping[str, str]) -> str:
    """The comparison as Markdown for a ticket, as long as GitHub takes it."""
    parts = [f"# {TOOL} beside the run {name(run_id)}\n", table(("", *_TOTAL_HEADS), _total_rows(volumes))]
    parts += [f"- {name(place)}: {prose(why)}\n" for place, why in failed.items()]
    differing = [volume for volume in volumes if volume.verdict is not AdviceVerdict.SAME]
    rows = [
        (name(volume.volume_id), name(volume.name or ""), *map(prose, _cells(volume)))
        for volume in differing[:_IN_MARKDOWN]
    ]
    parts.append(table(("volume", "name", "verdict", TOOL, "Plimsoll", "why"), rows) if rows else "")
    if len(differing) > _IN_MARKDOWN:
        parts.append(f"{count_of(len(differing) - _IN_MARKDOWN, 'more volume')}: `--format json` has all.\n")
    return fitting(parts)


def show_compared(console: Console, volumes: Sequence[Compared], failed: Mapping[str, str], most: int) -> None:
    """Prints the comparison, and at most `most` volumes (0: all) on which the two differ."""
    shown = plain_table([""], [head.rstrip(":") for head in _TOTAL_HEADS], header_style="dim")
    for row in _total_rows(volumes):
        shown.add_row(*row)
    console.print(shown)
    for place, why in failed.items():
        console.print(Text.assemble(("not compared ", "yellow"), printable(f"{place}: {why}")), soft_wrap=True)
    differing = [volume for volume in volumes if volume.verdict is not AdviceVerdict.SAME]
    if not differing:
        return
    listed = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("volume", TOOL, "Plimsoll", "why"):
        listed.add_column(head, overflow="fold")
    for volume in differing[: most or None]:
        verdict, theirs, ours, why = map(printable, _cells(volume))
        called = printable(f"{volume.volume_id} {volume.name or ''}".rstrip())
        listed.add_row(called, theirs, ours, Text.assemble((f"{verdict} ", "bold"), why))
    console.print(listed)
    if most and len(differing) > most:
        console.print(Text(f"{len(differing) - most:,} more; --rows 0 shows all.", style="dim"))


_TOTAL_HEADS: Final = ("volumes:", "theirs saves:", "ours saves:")


def _totals(volumes: Sequence[Compared]) -> Iterator[tuple[AdviceVerdict, int, float | None, float | None]]:
    """Each verdict with its volumes, and what both save of those whose savings they know; None if of none."""
    for verdict in AdviceVerdict:
        group = [volume for volume in volumes if volume.verdict is verdict]
        if group:
            yield (
                verdict,
                len(group),
                _sum(volume.theirs_saves for volume in group),
                _sum(volume.ours_saves for volume in group),
            )


def _total_rows(volumes: Sequence[Compared]) -> Iterator[tuple[str, ...]]:
    for verdict, count, *money in _totals(volumes):
        yield (
            VERDICT_WORDS[verdict],
            f"{count:,}",
            *("not known" if amount is None else usd(amount) for amount in money),
        )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), 2) if known else None


def _cells(volume: Compared) -> tuple[str, str, str, str]:
    theirs, ours = _format_side(volume.theirs, volume.theirs_saves), _format_side(volume.ours, volume.ours_saves)
    return volume.verdict, theirs, ours, volume.why


def _format_side(spec: VolumeSpec | None, saves: float | None) -> str:
    """A recommendation and what it saves, in words."""
    if spec is None:
        return "none"
    money = "" if saves is None else f", saves {usd(saves)}" if saves >= 0 else f", costs {usd(-saves)} more"
    return f"{spec_text(spec)}{money}"


def _plain_spec(spec: VolumeSpec | None) -> dict[str, Any] | None:
    return None if spec is None else asdict(spec)
