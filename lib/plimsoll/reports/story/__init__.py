"""Stories: what a run or a volume has to say, worded once as blocks. Printers only lay blocks out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import Step, StepWords
from plimsoll.reports.templates import TemplateText


class Topic(StrEnum):
    """The subject of a block, by which a medium chooses and places it."""

    HEADLINE = "headline"
    INCOMPLETE = "incomplete"
    MONEY = "money"
    SINCE = "since"
    OUTLOOK = "outlook"
    STEPS = "steps"
    TEMPLATES = "templates"
    COSTS = "costs"
    PAID = "paid"
    STATES = "states"
    BILL = "bill"
    NOTICES = "notices"
    MISSING = "missing"
    COUNTS = "counts"
    ABOUT = "about"
    PLACE = "place"
    ANSWER = "answer"
    WHY = "why"
    MORE = "more"
    EPOCHS = "epochs"
    DEMAND = "demand"
    OFFERS = "offers"
    FRONTIER = "frontier"
    GROUP = "group"
    EVIDENCE = "evidence"
    RISK = "risk"
    SECONDS = "seconds"
    CHANGE = "change"
    UNDO = "undo"
    CONSOLE = "console"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The answer in one sentence. `first` is a shorter one above it, empty if there is none."""

    text: str
    first: str = ""
    topic: Topic = Topic.HEADLINE


class Figure(NamedTuple):
    """An amount of money: what it is, and what it means."""

    amount: str
    label: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A table of words and figures. A column whose head ends in a colon holds figures."""

    topic: Topic
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """A step that holds volumes.

    `amount` is its saving or cost in short, and `share_pct` that saving in percent of all costs. A `small` step saves
    less than a hundredth of all savings. `first` are the volumes that matter most, and `more` counts the others.
    """

    step: Step
    words: StepWords
    volumes: str
    money: str
    amount: str
    share_pct: float
    small: bool
    first: tuple[RecommendationRecord, ...]
    more: int
    command: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepList:
    """The steps in the order in which to act; `most_money` names the one that saves most, if several save."""

    steps: tuple[StepLine, ...]
    most_money: str
    title: str = "What to do first"
    topic: Topic = Topic.STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes of templates, those that save most first."""

    topic: Topic
    title: str
    why: str
    changes: tuple[TemplateText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Sentences on one subject. `copy` is text to copy, and `url` where the subject can be looked at."""

    topic: Topic
    lines: tuple[str, ...]
    title: str = ""
    copy: str = ""
    url: str = ""


class Unread(NamedTuple):
    """Something that is not in the report: where, what, and why."""

    place: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The gaps of a report: what could not be read, and what was left out on purpose."""

    unread: tuple[Unread, ...]
    left_out: tuple[str, ...]
    title: str = "Not included"
    topic: Topic = Topic.MISSING


StoryBlock = Headline | Figures | StepList | Changes | Note | Missing
Story = tuple[StoryBlock, ...]
