"""Steps: in which order people act on a run's recommendations, and why each may be acted upon, in words too."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.reasons import GIVEN_UP
from plimsoll.domain.recommendation import CHANGES, Detached, InsufficientData, Upgrade
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import count_of

EVIDENCE: Final = "evidence"
"""The code of the blocker that a measurement lifts."""

CENT: Final = 0.005


class Step(StrEnum):
    """Each recommendation is in exactly one."""

    THROTTLED = "throttled"
    SAFE = "safe"
    PROVED = "proved"
    TRADE = "trade"
    MEASURE = "measure"
    BLOCKED = "blocked"
    DETACHED = "detached"
    WAIT = "wait"
    KEEP = "keep"


def step_of(record: RecommendationRecord) -> Step:
    """The step of a recommendation.

    A change is `safe` when its whole saving holds as a drop-in replacement, so that nothing the present volume can do
    is given up; `proved` when it rests on the measured demand, and measurements stand behind the offer; `trade` when
    it would be one of these, but gives up latency or durability; `measure` when published limits alone stand behind
    it, or the policy asks for better evidence; `blocked` when something else forbids it today.
    """
    if record.action not in CHANGES:
        return {Detached.action: Step.DETACHED, InsufficientData.action: Step.WAIT}.get(record.action, Step.KEEP)
    if record.action == Upgrade.action:
        return Step.THROTTLED
    codes = {blocker.code for blocker in record.blockers}
    if codes - {EVIDENCE}:
        return Step.BLOCKED
    drop_in = record.monthly_usd_saved_drop_in >= record.monthly_usd_saved - CENT
    if codes or (not drop_in and (record.evidence is None or record.evidence.grade == "C")):
        return Step.MEASURE
    if any(reason.startswith(GIVEN_UP) for reason in record.reasons):
        return Step.TRADE
    return Step.SAFE if drop_in else Step.PROVED


_DROP_IN: Final = f"monthly_usd_saved_drop_in >= monthly_usd_saved - {CENT}::double"
_CHANGED: Final = ", ".join(f"'{action}'" for action in CHANGES)

STEP_SQL: Final = f"""case
    when action = '{Detached.action}' then '{Step.DETACHED}'
    when action = '{InsufficientData.action}' then '{Step.WAIT}'
    when action not in ({_CHANGED}) then '{Step.KEEP}'
    when action = '{Upgrade.action}' then '{Step.THROTTLED}'
    when list_bool_or([blocker.code <> '{EVIDENCE}' for blocker in blockers]) then '{Step.BLOCKED}'
    when len(blockers) > 0 then '{Step.MEASURE}'
    when not ({_DROP_IN}) and (evidence is null or evidence.grade = 'C') then '{Step.MEASURE}'
    when list_bool_or([starts_with(reason, '{GIVEN_UP}') for reason in reasons]) then '{Step.TRADE}'
    when {_DROP_IN} then '{Step.SAFE}'
    else '{Step.PROVED}'
end"""
"""`step_of` for a database, over the columns of a recommendation; a test holds the two equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWords:
    """A step for people: `title` says what to do, `why` why that is safe or what it risks, `name` fits a table."""

    name: str
    title: str
    why: str


_NAMES_AND_TITLES: Final[Mapping[Step, tuple[str, str]]] = {
    Step.THROTTLED: ("throttled", "Speed up what is throttled today"),
    Step.SAFE: ("safe to change", "Change what needs no proof"),
    Step.PROVED: ("proved", "Change what measurements prove"),
    Step.TRADE: ("owner decides", "Decide what may be given up"),
    Step.MEASURE: ("measure first", "Measure first, then change"),
    Step.BLOCKED: ("blocked", "Clear what stands in the way"),
    Step.DETACHED: ("detached", "Look at what is attached to nothing"),
    Step.WAIT: ("too little data", "Wait for more data"),
    Step.KEEP: ("keep", "Leave as they are"),
}

STEP_NAMES: Final[Mapping[Step, str]] = {step: name for step, (name, _) in _NAMES_AND_TITLES.items()}
"""Each step in a word or two."""


def step_words(step: Step, policy: Policy, seen: str | None = None) -> StepWords:
    """The words of a step under the policy that a run was made with; `seen` is as of `judged_by`."""
    name, title = _NAMES_AND_TITLES[step]
    return StepWords(name=name, title=title, why=_why(step, policy, seen or _lookback(policy)))


def observed(hours: float) -> str:
    """The time that one volume was observed, in words that `judged_by` takes."""
    return f"the {count_of(round(hours), 'hour')} observed"


def judged_by(policy: Policy, seen: str | None = None) -> str:
    """What an offer has to carry, in words: whose peaks, of how long, with how much to spare.

    `seen` is the time that was observed, where it is known better than by the policy's lookback.
    """
    peaks = "the peak" if policy.peak_quantile >= 1 else f"the {policy.peak_quantile * 100:g}th percentile"
    span = {60: "minute", 300: "five minutes", 3600: "hour"}[policy.resolution_s]
    return f"{peaks} by the {span} of {seen or _lookback(policy)} with {policy.headroom_pct:g} % headroom"


def _lookback(policy: Policy) -> str:
    return "the last day" if policy.lookback_days == 1 else f"the last {policy.lookback_days} days"


def _risks(policy: Policy, seen: str) -> str:
    span = {60: "a minute", 300: "five minutes", 3600: "an hour"}[policy.resolution_s]
    where = " where the cloud keeps no busiest second" if policy.size_on is SizeOn.PEAK_SECOND else ""
    hidden = f"bursts within {span}, which its average hides{where}, and "
    bursts = "" if policy.size_on is SizeOn.BUSY_TIME else hidden
    return f"What is left as a risk: {bursts}a job that did not run in {seen}."


def _why(step: Step, policy: Policy, seen: str) -> str:
    judged, risks = judged_by(policy, seen), _risks(policy, seen)
    sentences: Mapping[Step, str] = {
        Step.THROTTLED: (
            f"The workload waits for the disk now. The offer carries {judged}. What was asked for beyond the present "
            "limit cannot be seen, so audit again afterwards."
        ),
        Step.SAFE: (
            "Drop-in replacements save all of it: they can do everything the present volumes can do today, so no "
            "demand has to be proved. Where the recommended configuration is another one, the volume's page shows both."
        ),
        Step.PROVED: (
            f"The offer can do less than the present volume, but it carries {judged}. Replaying that demand throttles "
            "it no longer than today. fio has measured that such volumes deliver: here and lately for evidence of "
            f"grade A, elsewhere or longer ago for grade B. {risks}"
        ),
        Step.TRADE: (
            f"The offer carries {judged}, but its type is slower to answer, or less durable, than "
            f"the present one: each volume says what it gives up. Only its owner can say whether that will do. {risks}"
        ),
        Step.MEASURE: (
            f"The offer carries {judged} by the provider's published limits, but nothing like it has been measured "
            "well enough. One command measures a scratch volume of that configuration with fio, deletes it, and "
            "brings the answer up to date."
        ),
        Step.BLOCKED: "The change is right, but something blocks it today. Each volume's own page says what.",
        Step.DETACHED: (
            "Paid for, and no host uses it. Take a snapshot and delete it if nobody needs it; only the owner can know "
            "that, so this is not counted as a saving."
        ),
        Step.WAIT: "Too little is known to recommend anything safely. The next audit looks again.",
        Step.KEEP: "Nothing that carries the demand is enough cheaper to be worth a change.",
    }
    return sentences[step]
