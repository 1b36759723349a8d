"""Steps: what people do with a run's recommendations, in which order, and why each may be acted upon.

One table has each step's value, its words, its place and what is asked for it; the function, the SQL and the words of
every report are made of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.model.kinds import CHANGES, COSTS, CountsAs, Kind, names_counted_as
from plimsoll.model.policy import Headroom, HeadroomFrom, Policy, SizeOn
from plimsoll.reports.record import ALLOWED_PCT, RecommendationRecord
from plimsoll.reports.wording import change_left_for_risk, count_of, risk_level

EVIDENCE: Final = "evidence"
"""The code of the blocker that a measurement lifts."""

CENT: Final = 0.005


class Step(StrEnum):
    """Each recommendation is in exactly one. They are in the order in which they are shown, and acted upon."""

    SAFE = "safe"
    TRADE = "trade"
    PROVED = "proved"
    MEASURE = "measure"
    THROTTLED = "throttled"
    WAIT = "wait"
    BLOCKED = "blocked"
    vars().update({kind.name.upper(): kind.name for kind in COSTS})  # each has a step of its own
    UNKNOWN = "unknown"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about a recommendation: of its record, and in SQL of its columns."""

    of_record: Callable[[RecommendationRecord], bool]
    in_sql: str


def sql_list(names: Iterable[str]) -> str:
    """Names as SQL lists them."""
    quoted = (f"'{name}'" for name in sorted(names))
    return f"({', '.join(quoted)})"


def _is(*kinds: str) -> Asked:
    return Asked(of_record=lambda record: record.action in kinds, in_sql=f"action in {sql_list(kinds)}")


def _counts_as(money: CountsAs) -> Asked:
    return _is(*names_counted_as(money))


_KEPT_SQL: Final = _counts_as(CountsAs.SAME).in_sql
_CHANGES_SQL: Final = _is(*CHANGES).in_sql


def _is_unproved(record: RecommendationRecord) -> bool:
    """True if the policy wants better evidence, a cut is unmeasured or too risky, or risk rejects a change."""
    if change_left_for_risk(record) is not None:
        return True
    thin = record.evidence is None or record.evidence.grade == "C"
    return bool(record.blockers) or (bool(record.cuts) and (thin or risk_level(record) != "allowed"))


RISK_SQL: Final = f"""case
    when {_KEPT_SQL} and too_risky is not null
        then case when too_risky.risk.promised_pct is null then 'unknown' else 'above' end
    when not ({_CHANGES_SQL}) then null
    when len(cuts) = 0 then 'none'
    when risk.promised_pct is null then 'unknown'
    when risk.promised_pct > coalesce(risk.allowed_pct, {ALLOWED_PCT}) then 'above'
    else 'allowed' end"""
"""`risk_level` for a database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A row of the table. `turn` is when it is asked whether a recommendation belongs to it: the first that does.

    `name` is a word or two, `title` what to do, and `why` why that is safe or what it risks, in which a policy's words
    are filled in. `command` does it for all volumes of a step, in a run's folder.
    """

    step: Step
    turn: int
    asked: Asked
    name: str
    title: str
    why: str
    color: str = ""
    command: str = ""


def _cost_row(kind: Kind) -> StepRow:
    return StepRow(
        step=Step(kind.name),
        turn=1,
        asked=_is(kind.name),
        name=kind.name,
        title=kind.title,
        why=kind.why,
        color=kind.color,
    )


STEPS: Final = (
    StepRow(
        step=Step.SAFE,
        turn=10,
        asked=Asked(of_record=lambda _: True, in_sql="true"),
        name="nothing given up",
        color="green",
        title="Take now, nothing given up",
        why="These are drop-in replacements: no limit of the volumes is lowered, and nothing else is given up. No "
        "demand has to be proved, so this is where to begin.",
        command="plimsoll report {} --format changes --where \"step = 'safe'\" --out changes",
    ),
    StepRow(
        step=Step.TRADE,
        turn=8,
        asked=Asked(of_record=lambda record: bool(record.losses), in_sql="len(losses) > 0"),
        name="owner decides",
        color="yellow",
        title="Decide what may be given up",
        why="The offer carries {judged}, or keeps today's IOPS and MiB/s, but something else is given up: each volume "
        "says what. Only its owner can accept that. {risks}",
    ),
    StepRow(
        step=Step.PROVED,
        turn=9,
        asked=Asked(of_record=lambda record: bool(record.cuts), in_sql="len(cuts) > 0"),
        name="proved",
        color="green",
        title="Change what measurements prove",
        why="The offer can do less than the present volume, but it carries {judged}. fio has measured that such "
        "volumes deliver: here and lately for evidence of grade A, elsewhere or longer ago for grade B. {risks}",
    ),
    StepRow(
        step=Step.MEASURE,
        turn=7,
        asked=Asked(
            of_record=_is_unproved,
            in_sql=f"({_KEPT_SQL} and too_risky is not null) or len(blockers) > 0 or "
            "(len(cuts) > 0 and (evidence is null or evidence.grade = 'C' or risk_level <> 'allowed'))",
        ),
        name="measure first",
        color="yellow",
        title="Measure first, then change",
        why="The offer carries {judged}, but nothing like it has been measured well enough. One command measures a "
        "scratch volume of that configuration with fio, deletes it, and brings the answer up to date. Volumes that "
        "are kept stand here too if a smaller configuration would do, but the chance that they outgrow it is above "
        "the {risk_pct:g} % that the policy allows, or not known. That money is in no sum. A risk falls with more "
        "headroom, or with more history.",
        command="plimsoll validate --recommendation {}",
    ),
    StepRow(
        step=Step.THROTTLED,
        turn=5,
        asked=_counts_as(CountsAs.MORE),
        name="throttled",
        color="red",
        title="Speed up volumes throttled today",
        why="The workload waits for the disk now. The offer carries {judged}, and {lift_pct:g} % more than the present "
        "limit where the demand stood at it. Demand beyond that limit is invisible, so audit again afterwards.",
    ),
    StepRow(
        step=Step.WAIT,
        turn=6,
        asked=_counts_as(CountsAs.LATER),
        name="wait",
        color="yellow",
        title="Wait, then look again",
        why="A smaller configuration may do, but the metrics do not show it yet. Each volume says why, and from "
        "which day on it can be judged. Until then it counts as no saving.",
    ),
    StepRow(
        step=Step.BLOCKED,
        turn=4,
        asked=Asked(
            of_record=lambda record: any(blocker.code != EVIDENCE for blocker in record.blockers),
            in_sql=f"coalesce(list_bool_or([blocker.code <> '{EVIDENCE}' for blocker in blockers]), false)",
        ),
        name="blocked",
        color="red",
        title="Clear what stands in the way",
        why="The change is right, but something blocks it today. Each volume's own page says what.",
    ),
    *map(_cost_row, COSTS),
    StepRow(
        step=Step.UNKNOWN,
        turn=2,
        asked=_counts_as(CountsAs.UNKNOWN),
        name="too little data",
        title="Wait for more data",
        why="Too little is known to recommend anything safely. The next audit looks again.",
    ),
    StepRow(
        step=Step.KEEP,
        turn=3,
        asked=Asked(
            of_record=lambda record: record.kind.money is CountsAs.SAME and record.too_risky is None,
            in_sql=f"{_KEPT_SQL} and too_risky is null",
        ),
        name="keep",
        title="Leave as they are",
        why="Nothing that carries the demand is enough cheaper to be worth a change.",
    ),
)
"""The steps, in the order in which they are shown."""

_IN_TURN: Final = sorted(STEPS, key=lambda row: row.turn)


def step_of(record: RecommendationRecord) -> Step:
    """The step of a recommendation."""
    return next(row.step for row in _IN_TURN if row.asked.of_record(record))


_CASES: Final = " ".join(f"when {row.asked.in_sql} then '{row.step}'" for row in _IN_TURN)

STEP_SQL: Final = f"case {_CASES} end"
"""`step_of` for a database, over the columns of a recommendation; a test holds the two equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWords:
    """A step for people: `title` says what to do, `why` why that is safe or what it risks, `name` fits a table."""

    name: str
    title: str
    why: str
    color: str


STEP_NAMES: Final[Mapping[Step, str]] = {row.step: row.name for row in STEPS}
"""Each step in a word or two."""

STEP_TITLES: Final[Mapping[Step, str]] = {row.step: row.title for row in STEPS}
"""What each step asks for."""

STEP_COMMANDS: Final[Mapping[Step, str]] = {row.step: row.command for row in STEPS if row.command}
"""What does a step for all its volumes at once, with the run's folder in it."""

_ROWS: Final = {row.step: row for row in STEPS}


def step_words(step: Step, policy: Policy, seen: str | None = None) -> StepWords:
    """The words of a step under the policy that a run was made with; `seen` is as of `requirement_words`."""
    span = seen or _lookback(policy)
    row = _ROWS[step]
    why = row.why.format(
        judged=requirement_words(policy, span),
        risks=_risks(policy, span),
        risk_pct=policy.risk_pct,
        lift_pct=policy.throttle_lift_pct,
    )
    return StepWords(name=row.name, title=row.title, why=why, color=row.color)


_SPANS: Final = {60: "minute", 300: "five minutes", 3600: "hour"}


def observed_words(hours: float) -> str:
    """The time that one volume was observed, in words that `requirement_words` takes."""
    return f"the {count_of(round(hours), 'hour')} observed"


def requirement_words(policy: Policy, seen: str | None = None) -> str:
    """The requirement of an offer in words: how long a demand it carries, with which headroom and throttling.

    `seen` is the time that was observed, where it is known better than by the policy's lookback.
    """
    span = f"every {_SPANS[policy.resolution_s]} of {seen or _lookback(policy)}"
    is_fixed = policy.headroom_from is HeadroomFrom.FIXED
    asked = Headroom.from_policy(policy)
    headroom = f"{asked.pct:g} % headroom" if is_fixed else f"headroom for a risk of {policy.risk_pct:g} %"
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
    return f"Remaining risk: {bursts}a job that did not run in {seen}."
