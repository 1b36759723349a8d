"""Recommendations: what should be done, why, what it saves and what stands in the way. Different answers are
different types.

Choices: what was chosen for volumes that change together, and why, of which the answer to each of them is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import ClassVar, Final

from plimsoll.decide.evidence import Evidence
from plimsoll.decide.groups import Part, Peer, StripeSet
from plimsoll.decide.offers import Bundle, Loss, Offer, cuts_of
from plimsoll.demand.epochs import Epoch, Settles
from plimsoll.demand.profile import DemandSummary
from plimsoll.demand.trial import Trial
from plimsoll.model import kinds
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.kinds import Reason
from plimsoll.model.policy import Headroom
from plimsoll.model.volume import Host, Volume, VolumeSpec
from plimsoll.past.memory import Event, Idleness
from plimsoll.reading.signals import Signals
from plimsoll.reading.window import Window
from plimsoll.risk.histories import PastPeaks
from plimsoll.risk.promise import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A reason that forbids a change today; `code` for machines, `text` for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierStep:
    """The price of letting `budget_min` minutes in 30 days be throttled: the cheapest `spec` within that budget.

    `throttled_minutes` and the longest wait are those of the window. `at_most`: not all minutes were read, so that
    price, minutes and wait may be less.
    """

    budget_min: float
    spec: VolumeSpec
    usd_month: float
    throttled_minutes: float
    longest_wait_s: float
    at_most: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySummary:
    """The time before the window that was asked whether it speaks against a reduction; `days` of it were observed.

    `event` is what it said against `instead_of`, which the window alone asks for, and `rhythm` what its days have in
    common; None where it said nothing. `peaks` are what can be learned of it.
    """

    window: Window
    days: int
    instead_of: VolumeSpec | None = None
    event: Event | None = None
    rhythm: str | None = None
    peaks: PastPeaks | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthSummary:
    """The growth of a volume's operations and bytes a day, in percent, over `weeks`; 0 for one that did not grow.

    `headroom` has room for that.
    """

    iops_pct_a_day: float
    throughput_pct_a_day: float
    weeks: int
    headroom: Headroom


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The offers that were weighed, beside the ceilings of today and the trial of the present configuration (`now`).

    `drop_in` is the drop-in replacement, `flip` the bare change of type. `frontier` is what each budget of throttled
    minutes would cost, `relief` the offer that ends frequent throttling where something else was chosen, with its
    price. `usable` is the present ceiling as far as the hosts carry it, and `full` the offer that keeps all of that
    ceiling where `drop_in` does not. `same_limits` are those that were weighed, and `lowering` is cheaper relief that
    lowers a limit, at a risk that is not allowed or soon outgrown.
    """

    present: Ceiling
    usable: Ceiling
    hosts: Ceiling
    now: Trial
    offers: tuple[Offer, ...]
    drop_in: Offer | None
    flip: Offer | None
    frontier: tuple[FrontierStep, ...] = ()
    relief: Offer | None = None
    full: Offer | None = None
    same_limits: tuple[Offer, ...] = ()
    lowering: Offer | None = None

    def offer(self, type_name: str) -> Offer:
        """The offer of a type."""
        return next(offer for offer in self.offers if offer.spec.type == type_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TooRisky:
    """An offer that would be recommended if its risk was allowed; `risk` is None if nothing was learned.

    What does not save enough for one volume alone counts for its template.
    """

    offer: Offer
    risk: Risk | None
    saves_enough: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMember:
    """One volume of a stripe set. `demand` is None where it was not read, `held` says why it must stay as it is."""

    volume_id: str
    spec: VolumeSpec
    demand: DemandSummary | None
    held: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAnswer:
    """The stripe set that a volume is decided with: its members, the money of all of them and what all carry.

    Money is None where a member could not be decided or has no price. `together` is the sum of the members' ceilings,
    None where one's type is not published; `host` is what they share.
    """

    stripes: StripeSet
    members: tuple[SetMember, ...]
    usd_month_now: float | None
    usd_month_then: float | None
    together: Ceiling | None
    host: Host


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The part that every recommendation has.

    `usd_month_now` is None where the region has no price for the present type; `stripe_set` where the volume is one of
    no known set. `pool` are the ids of the others of its pool that change together with it or not at all. `signals` are
    None where none were read, `memory` where the past had no say, `growth` where no room for any was asked for, and
    `risk` where no demand was sized. `part` is what the volume brings to the change of the template that made it, None
    where none is known or nothing was weighed. `peer` is the volume that it takes over from and has to leave room for,
    None where it has enough. `idle` is for how long it is known to have done nothing, None if less than the policy asks
    for.
    """

    volume: Volume
    usd_month_now: float | None
    reasons: tuple[Reason, ...]
    blockers: tuple[Blocker, ...] = ()
    epochs: tuple[Epoch, ...] = ()
    stripe_set: SetAnswer | None = None
    pool: tuple[str, ...] = ()
    signals: Signals | None = None
    memory: MemorySummary | None = None
    growth: GrowthSummary | None = None
    risk: Risk | None = None
    part: Part | None = None
    peer: Peer | None = None
    idle: Idleness | None = None
    demand: DemandSummary | None = None
    """What there is to be known of it; None where no metrics were read."""
    comparison: Comparison | None = None
    """None where nothing was weighed."""
    evidence: Evidence | None = None
    target: Offer | None = None
    """None if nothing is to be changed."""
    losses: tuple[Loss, ...] = ()
    """What a change gives up beside IOPS and MiB/s."""
    too_risky: TooRisky | None = None
    """What would save more if its risk was allowed."""

    @property
    def spec_then(self) -> VolumeSpec | None:
        """The recommended configuration; None where nothing is recommended."""
        return None if self.target is None else self.target.spec

    @property
    def trial_then(self) -> Trial | None:
        """The trial of the recommended configuration; None if nothing was tried."""
        return None if self.comparison is None else self.comparison.now

    @property
    def own_usd_month_then(self) -> float | None:
        """The volume's own price after the change; None without a price.

        What a disk of a storage pool gives back stays in the pool, which is paid for as a whole.
        """
        return self.usd_month_now

    @property
    def own_usd_month_saved_drop_in(self) -> float:
        """The part of the volume's own saving that needs no proof."""
        return 0.0

    @property
    def cuts(self) -> tuple[str, ...]:
        """The limits that are lower than today's."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Answer):
    """A change worth making.

    If it is not `measured`, too little is known of what the volume does: it keeps all limits.
    """

    usd_month_now: float
    target: Offer
    usd_month_then: float
    demand: DemandSummary
    comparison: Comparison
    evidence: Evidence
    measured: bool = True

    @property
    def spec_then(self) -> VolumeSpec:
        """The recommended configuration."""
        return self.target.spec

    @property
    def trial_then(self) -> Trial | None:
        """The trial of the target; None if it was not tried."""
        return self.target.tried

    @property
    def own_usd_month_then(self) -> float:
        """The volume's own price after the change."""
        return self.usd_month_now if self.volume.storage_pool else self.usd_month_then

    @property
    def own_usd_month_saved_drop_in(self) -> float:
        """The part of the volume's own saving that needs no proof."""
        return 0.0 if self.volume.storage_pool else self.usd_month_saved_drop_in

    @property
    def cuts(self) -> tuple[str, ...]:
        """The limits that are lower than today's."""
        return cuts_of(self.target.ceiling, self.comparison.present, self.comparison.usable)

    @property
    def usd_month_saved(self) -> float:
        """USD a month less than today; negative where an upgrade costs more."""
        return self.usd_month_now - self.usd_month_then

    @property
    def usd_month_saved_drop_in(self) -> float:
        """The part of the saving that needs no proof: it holds when everything the present volume can do is kept."""
        offer = self.comparison.drop_in
        if offer is None or offer.usd_month is None:
            return 0.0
        return max(0.0, min(self.usd_month_saved, self.usd_month_now - offer.usd_month))


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrate(Change):
    """Another type carries the demand for less."""

    action: ClassVar[str] = kinds.MIGRATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reprovision(Change):
    """The same type with other IOPS or throughput carries the demand for less."""

    action: ClassVar[str] = kinds.REPROVISION


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade(Change):
    """The volume throttles its workload today."""

    action: ClassVar[str] = kinds.UPGRADE


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep(Answer):
    """Nothing better is worth it. `beneath` is what saves too little alone, where a template made the volume."""

    action: ClassVar[str] = kinds.KEEP
    usd_month_now: float
    demand: DemandSummary
    comparison: Comparison
    evidence: Evidence
    beneath: Offer | None = None

    @property
    def spec_then(self) -> VolumeSpec:
        """The present configuration."""
        return self.volume.spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Answer):
    """A reduction that cannot be judged yet: look again on the day `until`. `code` says why (`settling.Unsettled`);
    `expected` is the offer that would be recommended if what was seen so far is all."""

    action: ClassVar[str] = kinds.WAIT
    usd_month_now: float
    until: date
    code: str
    expected: Offer
    demand: DemandSummary
    comparison: Comparison
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Unweighed(Answer):
    """An answer for which nothing is weighed: its kind (`plimsoll.model.kinds`) says it all."""

    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InsufficientData(Answer):
    """Too little is known to say anything."""

    action: ClassVar[str] = kinds.INSUFFICIENT_DATA


Recommendation = Migrate | Reprovision | Upgrade | Keep | Wait | Unweighed | InsufficientData


def blockers_together(answers: Mapping[str, Recommendation], own: Recommendation, unit: str) -> tuple[Blocker, ...]:
    """The blockers of one of the volumes that change together: its own and, if it changes, those of the others."""
    if not isinstance(own, Change):
        return own.blockers
    return own.blockers + tuple(
        Blocker(code=blocker.code, text=f"{other.volume.id} of the same {unit}: {blocker.text}")
        for other in answers.values()
        if other is not own
        for blocker in other.blockers
    )


class ChoiceVerdict(StrEnum):
    """The kinds of a choice."""

    KEEP = "keep"
    CHANGE = "change"
    RELIEVE = "relieve"
    WAIT = "wait"


class Why(StrEnum):
    """The reason why everything stays as it is, or the preference that chose the target."""

    CHEAPEST = "cheapest"
    DROP_IN = "drop-in"
    BY_HOST = "by-host"
    RELIEF = "relief"
    THROTTLES_NO_MORE = "throttles-no-more"
    HOST_IS_THE_LIMIT = "host-is-the-limit"
    NOTHING_PASSES = "nothing-passes"
    PRESENT_IS_CHEAPEST = "present-is-cheapest"
    SAVES_TOO_LITTLE = "saves-too-little"
    TOO_RISKY = "too-risky"
    NOT_SETTLED = "not-settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierBudget:
    """One step of the frontier: the cheapest bundle within a budget of throttled minutes in 30 days."""

    budget_min: float
    bundle: Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The answer for volumes that change together: a verdict, a target and the reason.

    `target` is the bundle that is chosen, or would be (wait, saves too little). Today all cost `usd_month_now`.
    `beneath` would be chosen if no least saving was asked for: its saving is too small alone, and could be judged
    today, or once the volume is no longer new. `same_limits` are the replacements that were weighed; `full` keeps all
    limits, also those that its host cannot carry, where `drop_in` does not. `bundles` has one of each type, `relief`
    ends frequent throttling where something else was chosen, `frontier` is the price of tolerating more. `too_risky`
    would be chosen if its risk was allowed. `lowering` is relief that lowers a limit: relief that lowers none goes
    before it, because of its risk or because demand soon outgrows it.
    """

    verdict: ChoiceVerdict
    why: Why
    target: Bundle | None
    now: Trial
    usd_month_now: float
    bundles: Sequence[Bundle]
    drop_in: Bundle | None
    full: Bundle | None = None
    same_limits: Sequence[Bundle] = ()
    relief: Bundle | None = None
    settles: Settles | None = None
    frontier: Sequence[FrontierBudget] = ()
    beneath: Bundle | None = None
    too_risky: Bundle | None = None
    lowering: Bundle | None = None


class StepKind(StrEnum):
    """The ways in which a step is carried out."""

    COMMAND = "command"
    FILE = "file"
    EDIT = "edit"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeStep:
    """One step: a line of a shell, a manifest to apply, figures that a person writes somewhere, or a remark."""

    kind: StepKind
    text: str
    path: str = ""
    """The name of a manifest's file, or the place of an edit in words; empty for the others."""
    namespace: str = ""
    """The namespace of the claim that a command changes; empty for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSteps:
    """A change and its way back, each in the order in which its steps are taken; empty if nothing is changed."""

    forth: tuple[ChangeStep, ...] = ()
    back: tuple[ChangeStep, ...] = ()


NO_CHANGE: Final = ChangeSteps()
"""The steps if nothing is changed."""


def command_step(text: str, *, namespace: str = "") -> ChangeStep:
    """A line of a shell."""
    return ChangeStep(kind=StepKind.COMMAND, text=text, namespace=namespace)


def manifest_step(path: str, text: str) -> ChangeStep:
    """A manifest to apply, under the name of its file."""
    return ChangeStep(kind=StepKind.FILE, text=text.rstrip("\n"), path=path)


def edit_step(text: str) -> ChangeStep:
    """A thing that a person does, in words."""
    return ChangeStep(kind=StepKind.EDIT, text=text)


def edit_step_at(path: str, text: str) -> ChangeStep:
    """The figures that a person writes at a place."""
    return ChangeStep(kind=StepKind.EDIT, text=text, path=path)


def note_step(text: str) -> ChangeStep:
    """A remark."""
    return ChangeStep(kind=StepKind.NOTE, text=text)
