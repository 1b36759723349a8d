"""Figures and names in the words of every report: money, counts, configurations, owners, actions, clouds, promises."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from plimsoll.clouds.registry import CLOUDS, CloudWords
from plimsoll.decide.offers import LossCode, loss_text
from plimsoll.model.kinds import CHANGES, KINDS, CountsAs, Kind, dollars
from plimsoll.model.policy import LESS_RISK
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.record import (
    FIRST_PROVIDER,
    DemandRecord,
    EpochRecord,
    FrontierStepRecord,
    OwnerRecord,
    RecommendationRecord,
    SpecRecord,
    TooRiskyRecord,
    WaitRecord,
)
from plimsoll.reports.run_record import KeptPromises, RunRecord, RunRisk
from plimsoll.risk.watch import BROKEN_PCT


def kind_words(kind: Kind) -> str:
    """A kind of answer in words: what it asks for, or what it is."""
    return f"paid for, {kind.words}" if kind.money is CountsAs.COST else kind.words


RANKED: Final = sorted(KINDS.values(), key=lambda kind: kind.rank)
"""The kinds of answers in the order of counts."""

GRADE_WORDS: Final = {
    "A": "Measured in this account and region, lately enough.",
    "B": "Measured, but elsewhere or longer ago.",
    "C": "At least one of IOPS and throughput rests on the provider's published limits alone.",
}
"""What each grade of evidence means."""

GRADE_NAMES: Final = {"A": "measured here", "B": "measured elsewhere or earlier", "C": "published limits only"}
"""Each grade of evidence in a few words."""

_OWNER_KINDS: Final = {
    "cloudformation": "CloudFormation",
    "terraform": "Terraform",
    "kubernetes": "Kubernetes",
    "auto-scaling": "Auto Scaling",
    "operator": "managed by",
    "hand": "by hand",
}

NAME_LENGTH: Final = 60
"""How much of a name is shown where it stands among others."""


PROVIDERS: Final = tuple(CLOUDS)
"""The clouds that have words of their own."""

usd: Final = dollars
"""Money as every report writes it."""


def count_of(number: int, thing: str) -> str:
    """A number of things: "1 volume", "600 volumes"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A duration as people say it: seconds under a minute and a half, else minutes."""
    return f"{seconds:,.0f} s" if seconds < 90 else f"{seconds / 60:,.0f} min"


def spec_text(spec: SpecRecord | VolumeSpec | None, *, between: str = " ") -> str:
    """A configuration in a few words, its parts set apart by `between`."""
    if spec is None:
        return ""
    parts = [f"{spec.type} {spec.size_gib:,} GiB"]
    if spec.iops is not None:
        parts.append(f"{spec.iops:,} IOPS")
    if spec.throughput_mib_s is not None:
        parts.append(f"{spec.throughput_mib_s:,} MiB/s")
    return between.join(parts)


def owner_text(owner: OwnerRecord) -> str:
    """An owner in a few words."""
    kind = _OWNER_KINDS.get(owner.kind, owner.kind)
    return f"{kind} {owner.name}" if owner.name else kind


def short_name(record: RecommendationRecord) -> str:
    """A volume's name cut to a length, or its id."""
    return cut(record.name or "") or record.volume_id


def cut(text: str, length: int = NAME_LENGTH) -> str:
    """A text on one line and no longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def losses_in_words(record: RecommendationRecord) -> list[str]:
    """The losses of a change beside IOPS and MiB/s; of a latency class, with the latency that was seen."""
    seen = _latency_seen(record)
    return [
        loss_text(loss.code, loss.now, loss.then) + (seen if loss.code is LossCode.LATENCY_CLASS else "")
        for loss in record.losses
    ]


RiskLevel = Literal["none", "allowed", "above", "unknown"]
"""How a risk stands to the policy: no limit is lowered; it is allowed; it is above that; nothing is promised."""

RISK_LEVELS: Final[Mapping[RiskLevel, str]] = {
    "none": "no limit is lowered",
    "allowed": "within the policy's risk",
    "above": "above the policy's risk",
    "unknown": "nothing is promised",
}
"""Each level of risk in words."""


def change_left_for_risk(record: RecommendationRecord) -> TooRiskyRecord | None:
    """The change that a volume that stays would have if its risk was allowed; None if there is none."""
    return record.too_risky if record.kind.money is CountsAs.SAME else None


def risk_level(record: RecommendationRecord) -> RiskLevel | None:
    """The level of a change's risk, or of one that is left out for it; None where nothing would be changed."""
    left = change_left_for_risk(record)
    if left is not None:
        risk = left.risk
        return "unknown" if risk is None or risk.promised_pct is None else "above"
    if record.action not in CHANGES:
        return None
    if not record.cuts:
        return "none"
    if record.risk is None or record.risk.promised_pct is None:
        return "unknown"
    return "above" if record.risk.promised_pct > record.risk.allowed_pct else "allowed"


def risk_pct(record: RecommendationRecord) -> float | None:
    """The chance, in percent, to outgrow a change: 0 where no limit is lowered, None where it is not known."""
    level = risk_level(record)
    if level == "none":
        return 0.0
    left = change_left_for_risk(record)
    risk = record.risk if left is None else left.risk
    return risk.promised_pct if level is not None and risk is not None else None


def risk_text(record: RecommendationRecord) -> str:
    """A change's risk in a word: none, at most so many percent, or not known; empty where nothing is changed."""
    level, promised_pct = risk_level(record), risk_pct(record)
    if level is None or level == "none":
        return level or ""
    return "not known" if promised_pct is None else f"{promised_pct:g} %"


def _latency_seen(record: RecommendationRecord) -> str:
    """The latency of reads and writes today; empty if it was not read."""
    seen = record.signals
    if seen is None:
        return ""
    if seen.mean_io_latency_ms is not None:
        return f": operations take {seen.mean_io_latency_ms:.2g} ms today"
    means = (("reads", seen.mean_read_latency_ms), ("writes", seen.mean_write_latency_ms))
    latencies = [f"{what} take {mean:.2g} ms" for what, mean in means if mean is not None]
    return f": {' and '.join(latencies)} today" if latencies else ""


def plight(record: RecommendationRecord) -> str:
    """The time for which a workload was throttled, in words; empty for other volumes."""
    if record.kind.money is not CountsAs.MORE or record.demand is None:
        return ""
    hours = record.demand.throttled_minutes / 60
    waited = (
        f"{hours:,.0f} of {record.demand.hours_observed:,.0f} hours" if hours >= 2 else f"{hours * 60:,.0f} minutes"
    )
    return f"throttled in {waited}"


def coverage_words(demand: DemandRecord) -> str:
    """The received part of the metrics, in a line: `observed 334 of 336 hours; write_ops 99.4 %`."""
    expected = demand.hours_observed if demand.hours_expected is None else demand.hours_expected
    hours = (
        f"{demand.hours_observed:,.1f}"
        if demand.hours_observed == expected
        else (f"{demand.hours_observed:,.1f} of {expected:,.1f}")
    )
    lacking = [f"{name} {pct:g} %" for name, pct in demand.series_received_pct.items() if pct < 100]
    disputed = [f"{demand.disputed_hours:,.1f} hours disputed"] if demand.disputed_hours else []
    return "; ".join([f"observed {hours} hours", *([", ".join(lacking)] if lacking else []), *disputed])


def change_words(record: RecommendationRecord) -> str:
    """From what to what, in words."""
    if record.target is None or record.target == record.current:
        return spec_text(record.current)
    return f"{spec_text(record.current)} → {spec_text(record.target)}"


def outcome_text(record: RecommendationRecord) -> str:
    """A recommendation's effect on the bill, in words."""
    if record.monthly_usd_now is None:
        return "no price known"
    if record.kind.money is CountsAs.COST:
        return f"costs {usd(record.monthly_usd_now)} a month"
    if record.wait is not None:
        saved = record.wait.monthly_usd_saved
        return f"{usd(saved)} a month possible from {record.wait.until} on" if saved > 0 else "look again later"
    left = change_left_for_risk(record)
    if left is not None:
        return left_change_text(left)
    if record.monthly_usd_saved < 0:
        return f"costs {usd(-record.monthly_usd_saved)} a month more"
    return f"saves {usd(record.monthly_usd_saved)} a month"


def left_change_text(rejected: TooRiskyRecord) -> str:
    """The change that is left out because of its risk, with its price and that risk."""
    pct = None if rejected.risk is None else rejected.risk.promised_pct
    risk = "a risk that is not known" if pct is None else f"a risk of {pct:g} %"
    saved = rejected.monthly_usd_saved
    price = f"would save {usd(saved)} a month" if saved > 0 else f"costs {usd(-saved)} a month more"
    return f"not recommended: {spec_text(rejected.spec)} {price} at {risk}"


def risk_in_words(record: RecommendationRecord) -> str:
    """A recommendation's risk, in a few words."""
    if not record.cuts:
        return "no limit is lowered"
    if record.risk is None or record.risk.promised_pct is None:
        return "risk not known"
    return f"risk at most {record.risk.promised_pct:g} % of over {record.risk.minutes:g} throttled minutes"


def step_price(step: FrontierStepRecord) -> str:
    """The price of a step of a frontier, in words."""
    return f"{_bound(step)}{usd(step.monthly_usd)}"


def step_wait(step: FrontierStepRecord) -> str:
    """The longest wait of a step of a frontier, in words."""
    return "none" if step.longest_wait_s <= 0 else f"{_bound(step)}{duration(step.longest_wait_s)}"


FRONTIER_TITLE: Final = "The price by throttled minutes in 30 days"
FRONTIER_HEADS: Final = ("minutes", "configuration", "USD a month", "longest wait")
"""The title and the heads of a table of a frontier, whose rows `frontier_rows` gives."""


def frontier_rows(record: RecommendationRecord) -> list[tuple[str, str, str, str]]:
    """The price of each budget of throttled minutes, a row each, in words."""
    return [
        (f"{step.budget_min:g}", spec_text(step.spec), step_price(step), step_wait(step)) for step in record.frontier
    ]


def epoch_text(epoch: EpochRecord) -> str:
    """The configuration of a volume in an epoch, in words."""
    return spec_text(epoch.spec) or "not known"


def _bound(step: FrontierStepRecord) -> str:
    return "at most " if step.at_most else ""


def wait_text(wait: WaitRecord) -> str:
    """Until when a volume waits, and what is expected then, in words."""
    saves = f"; {spec_text(wait.expected)} may then save {usd(wait.monthly_usd_saved)} a month"
    return f"look again on {wait.until}{saves if wait.monthly_usd_saved > 0 else ''}"


def words_of(provider: str) -> CloudWords:
    """A cloud's words; those of a cloud that has none here are its name and general terms."""
    return (
        CLOUDS[provider].words
        if provider in CLOUDS
        else CloudWords(
            cloud=provider,
            account="account",
            account_option="--account",
            monitoring="its monitoring",
            shown="opens its console",
            call="metric",
            quotas="its quotas",
            price="its price list",
            way_back="Its cloud says how to change it back, and how often.",
        )
    )


def clouds_of(run: RunRecord) -> tuple[str, ...]:
    """The clouds that a run asked; runs of earlier versions knew one and did not name it."""
    return tuple(run.clouds or (FIRST_PROVIDER,))


def calls_in(providers: Iterable[str]) -> str:
    """The names of the calls that read these clouds' metrics."""
    return join_words(words_of(provider).call for provider in providers)


def account_word(providers: Iterable[str]) -> str:
    """The clouds' word for an account: "account or project" where they differ."""
    return join_words((words_of(provider).account for provider in providers), "or")


def join_words(words: Iterable[str], joint: str = "and") -> str:
    """Some words as a list, each once."""
    return f" {joint} ".join(dict.fromkeys(words))


def learned_words(run: RunRecord) -> str:
    """The base of the next run's promises; empty if this run learned nothing and had nothing to learn from."""
    learning = run.learning
    if learning is None:
        return ""
    volumes, rests_on = count_of(learning.volumes, "volume"), learning.rests_on
    if rests_on is None:
        return f"Risk figures come from public workloads: the history of {volumes} is too little to use your own."
    if rests_on.on != run.now[:10] or rests_on.volumes != learning.volumes:
        learned = count_of(rests_on.volumes, "volume")
        return (
            f"This run learned from {volumes}. Risk figures still come from the {learned} of {rests_on.on} "
            f"({rests_on.of})."
        )
    return f"This run learned from {volumes} of your own. Risk figures come from them from the next run on."


def outlook(risk: RunRisk | None) -> str:
    """The risk of doing all recommendations, by its part of run.json; empty if nothing is reduced."""
    return " ".join(_risk_sentences(risk)) if risk else ""


def _risk_sentences(risk: RunRisk) -> Iterator[str]:
    promised, unpromised, safer = risk.promised, risk.unpromised, risk.safer
    if promised:
        yield (
            f"If you apply everything, expect up to {people(risk.expected)} of "
            f"{count_of(promised, 'reduced volume')} to throttle for over {risk.minutes:.0f} minutes in "
            f"{risk.days:.0f} days."
        )
    if safer:
        yield (
            f"The next safer sizes lower that to {people(safer.expected)}, for up to {usd(safer.more_usd_month)} a "
            "month more."
        )
    elif promised:
        yield "Only the same limits, or no change, are known to be safer."
    if unpromised:
        others = count_of(unpromised, "other" if promised else "reduced volume")
        yield f"The risk of {others} is unknown: nothing was learned for them. Learn from your own fleet."


def people(expected: float) -> str:
    """An expected number of volumes: whole from ten on, else with a decimal where it has one."""
    return f"{expected:,.0f}" if expected >= 10 or float(expected).is_integer() else f"{expected:,.1f}"


def kept_promises(run: RunRecord) -> str:
    """The numbers of changed volumes that throttled and were expected to; empty if a run saw none again."""
    return " ".join(_promise_sentences(run.promises)) if run.promises else ""


def _promise_sentences(kept: KeptPromises) -> Iterator[str]:
    throttled, expected = kept.throttled, kept.expected
    of = count_of(kept.changed, "changed volume")
    shown = people(expected)
    yield f"Of {of} {throttled or 'none'} throttled; {shown} {'was' if shown == '1' else 'were'} expected."
    if kept.broken:
        yield (
            f"Promises are broken: chance alone does that in {BROKEN_PCT:g} % of cases at most. "
            f"Look at the throttled volumes, set {LESS_RISK}, and learn from your own fleet."
        )
    if kept.observed_pct < 100:
        yield f"{kept.observed_pct:.0f} % of the promised time has been watched."
