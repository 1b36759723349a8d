"""Steps: in which order people act on a run's recommendations, and why each may be acted upon, in words too."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.domain.actions import CHANGES, DETACHED, INSUFFICIENT_DATA, UPGRADE, WAIT
from plimsoll.domain.policy import HeadroomFrom, Policy, SizeOn
from plimsoll.domain.reasons.given_up import GIVEN_UP
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import count_of

EVIDENCE: Final = "evidence"
"""The code of the blocker that a measurement lifts."""

CENT: Final = 0.005


class Step(StrEnum):
    """Each recommendation is in exactly one; they are in the order in which to act."""

    SAFE = "safe"
    PROVED = "proved"
    TRADE = "trade"
    MEASURE = "measure"
    THROTTLED = "throttled"
    BLOCKED = "blocked"
    DETACHED = "detached"
    WAIT = "wait"
    UNKNOWN = "unknown"
    KEEP = "keep"


_WITHOUT_CHANGE: Final = {
    DETACHED: Step.DETACHED,
    WAIT: Step.WAIT,
    INSUFFICIENT_DATA: Step.UNKNOWN,
}
"""The steps of actions that change no volume; the others' is `keep`."""


def step_of(record: RecommendationRecord) -> Step:
    """The step of a recommendation.

    A change is `safe` when its whole saving holds as a drop-in replacement, so that nothing the present volume can do
    is given up; `proved` when it rests on the measured demand, and measurements stand behind the offer; `trade` when
    it would be one of these, but gives up latency or durability; `measure` when published limits alone stand behind
    it, or the policy asks for better evidence; `throttled` when it relieves a volume that is held back today;
    `blocked` when something forbids it today. A reduction that cannot be judged yet is to `wait`, and what too little
    is known of is `unknown`.
    """
    if record.action not in CHANGES:
        return _WITHOUT_CHANGE.get(record.action, Step.KEEP)
    if record.action == UPGRADE:
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

_SQL_WITHOUT_CHANGE: Final = " ".join(
    f"when action = '{action}' then '{step}'" for action, step in _WITHOUT_CHANGE.items()
)

STEP_SQL: Final = f"""case
    {_SQL_WITHOUT_CHANGE}
    when action not in ({_CHANGED}) then '{Step.KEEP}'
    when action = '{UPGRADE}' then '{Step.THROTTLED}'
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
    Step.SAFE: ("nothing given up", "Take now, nothing given up"),
    Step.PROVED: ("proved", "Change what measurements prove"),
    Step.TRADE: ("owner decides", "Decide what may be given up"),
    Step.MEASURE: ("measure first", "Measure first, then change"),
    Step.THROTTLED: ("throttled", "Speed up what is throttled today"),
    Step.BLOCKED: ("blocked", "Clear what stands in the way"),
    Step.DETACHED: ("detached", "Look at what is attached to nothing"),
    Step.WAIT: ("wait", "Wait, then look again"),
    Step.UNKNOWN: ("too little data", "Wait for more data"),
    Step.KEEP: ("keep", "Leave as they are"),
}

STEP_NAMES: Final[Mapping[Step, str]] = {step: name for step, (name, _) in _NAMES_AND_TITLES.items()}
"""Each step in a word or two."""

STEP_TITLES: Final[Mapping[Step, str]] = {step: title for step, (_, title) in _NAMES_AND_TITLES.items()}
"""What each step asks for."""


def step_words(step: Step, policy: Policy, seen: str | None = None) -> StepWords:
    """The words of a step under the policy that a run was made with; `seen` is as of `judged_by`."""
    name, title = _NAMES_AND_TITLES[step]
    return StepWords(name=name, title=title, why=_why(step, policy, seen or _lookback(policy)))


_SPANS: Final = {60: "minute", 300: "five minutes", 3600: "hour"}


def observed(hours: float) -> str:
    """The time that one volume was observed, in words that `judged_by` takes."""
    return f"the {count_of(round(hours), 'hour')} observed"


def judged_by(policy: Policy, seen: str | None = None) -> str:
    """What an offer has to carry, in words: the demand of how long, with how much to spare, and what it may throttle.

    `seen` is the time that was observed, where it is known better than by the policy's lookback.
    """
    span = f"every {_SPANS[policy.resolution_s]} of {seen or _lookback(policy)}"
    is_fixed = policy.headroom_from is HeadroomFrom.FIXED
    headroom = f"{policy.headroom_pct:g} % headroom" if is_fixed else f"headroom for a risk of {policy.risk_pct:g} %"
    demand = f"{span} with {headroom}"
    if policy.throttle_budget_min <= 0:
        return demand
    minutes = f"{policy.throttle_budget_min:g} throttled minute{'' if policy.throttle_budget_min == 1 else 's'}"
    return f"{demand}, but for {minutes} in 30 days"


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
        Step.SAFE: (
            "These are drop-in replacements: they can do everything the present volumes can do today. No demand has to "
            "be proved, so this is where to begin."
        ),
        Step.PROVED: (
            f"The offer can do less than the present volume, but it carries {judged}. "
            "fio has measured that such volumes deliver: here and lately for evidence of "
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
        Step.THROTTLED: (
            f"The workload waits for the disk now. The offer carries {judged}, and {policy.throttle_lift_pct:g} % more "
            "than the present limit where the demand stood at it. What was asked for beyond that limit cannot be seen, "
            "so audit again afterwards."
        ),
        Step.BLOCKED: "The change is right, but something blocks it today. Each volume's own page says what.",
        Step.DETACHED: (
            "Paid for, and no host uses it. Take a snapshot and delete it if nobody needs it; only the owner can know "
            "that, so this is not counted as a saving."
        ),
        Step.WAIT: (
            "A smaller configuration may do, but what was seen so far does not show it: the volume or its host was "
            "changed lately. Each volume says from which day on it can be judged. Nothing is counted as a saving until "
            "then."
        ),
        Step.UNKNOWN: "Too little is known to recommend anything safely. The next audit looks again.",
        Step.KEEP: "Nothing that carries the demand is enough cheaper to be worth a change.",
    }
    return sentences[step]
