"""A member: a volume on its way to its answer, and what is judged of it so far."""

from dataclasses import dataclass, field, replace

from plimsoll.domain.case import Case
from plimsoll.domain.case_maker import case_of
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.decide import answer
from plimsoll.domain.demand.day_sums import DaySums
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.demand_profile import DemandProfile
from plimsoll.domain.demand.from_metrics import sums_of_knowledge
from plimsoll.domain.demand.saturation import HostLoad
from plimsoll.domain.demand.trend import NEVER, BusyHours
from plimsoll.domain.errors import CloudError
from plimsoll.domain.groups.group import Peer
from plimsoll.domain.headroom import Growth
from plimsoll.domain.memory.days import find_idleness, may_be_idle
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.recommendation import Idleness, Recommendation
from plimsoll.domain.refine.recall import Recall
from plimsoll.domain.refine.steps import Steps
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A volume's answer, the profile of the demand that it rests on, and that demand where it is kept.

    There is no `profile` while something is still to be read.
    """

    recommendation: Recommendation
    profile: DemandProfile | None
    demand: Demand | None


@dataclass(slots=True)
class Member:
    """A volume on its way: what is known of it, and its answer so far. Without a `context` only its traffic counts.

    `in_set`: it is of a stripe set that is decided on as one. `pooled`: its host's volumes can share pools. `whole`: it
    is read whole from the start. `asks_host`: what is measured of its host is asked by it, for all volumes there.
    `recall` is its past, None where nothing of it can be read; `steps` tells how often its points come. `peer` is the
    volume that it has to leave room for, and `exact_peaks` says that its peaks have to be known.
    """

    volume: Volume
    context: DecisionContext | None
    knowledge: Knowledge
    in_set: bool
    pooled: bool = False
    whole: bool = False
    asks_host: bool = False
    recall: Recall | None = None
    peer: Peer | None = None
    exact_peaks: bool = False
    steps: Steps = field(init=False)
    error: CloudError | None = None
    judged: Judged | None = None
    _made: tuple[Case, Demand, HostLoad | None, DaySums | None, BusyHours | None] | None = None
    _answered: tuple[Case, Recommendation] | None = None

    def __post_init__(self) -> None:
        self.steps = Steps(self.volume, self.knowledge)

    @property
    def alone(self) -> bool:
        """Whether it is decided on by itself."""
        return not (self.in_set or self.pooled)

    @property
    def growth(self) -> Growth | None:
        """How fast what it does grows, where its past was asked for it."""
        return None if self.recall is None else self.recall.growth

    def sized(self, context: DecisionContext) -> DecisionContext:
        """Its context, with the headroom that is learned for what its past has told so far."""
        return context if self.recall is None else self.recall.sized(context)

    def case(self, demand: Demand, load: HostLoad | None, context: DecisionContext) -> Case:
        """Its case, with what its past has told so far. It is the same object where nothing else is known."""
        days = None if self.recall is None else self.recall.days
        earlier = NEVER if self.recall is None else self.recall.earlier
        case = self._as_before(demand, load, context, days, earlier)
        if case is None:
            case = case_of(self.volume, demand, load, context, days, earlier)
        self._made = case, demand, load, days, earlier
        return case if self.recall is None else self.recall.remembering(case)

    def idleness(self, case: Case) -> Idleness | None:
        """For how long it is known to have done nothing; None if it did, or that is not known."""
        if not may_be_idle(self.volume, case.demand):
            return None
        own = sums_of_knowledge(self.knowledge)
        days = own if self.recall is None else self.recall.with_window(own)
        return find_idleness(self.volume, days, self.knowledge.window, case.policy)

    def answer(self, case: Case) -> Recommendation:
        """The answer to its case, worked out once for the same case."""
        if self._answered is None or self._answered[0] is not case:
            self._answered = case, answer(case)
        return self._answered[1]

    def forget(self) -> None:
        """Lets go of its case and its answer's: what was judged of it stays."""
        self._made = self._answered = None

    def _as_before(
        self,
        demand: Demand,
        load: HostLoad | None,
        context: DecisionContext,
        days: DaySums | None,
        earlier: BusyHours | None,
    ) -> Case | None:
        """The case that was made of the same, with what was worked out of it; None where something else is known. Days
        tell of what was held back, and of nothing else."""
        if self._made is None:
            return None
        case, made_of, load_of_host, known, past = self._made
        sized = case.context.policy == context.policy and case.headrooms == context.headrooms
        same = made_of is demand and load_of_host is load and sized and past is earlier
        if not same or (known is not days and case.lifted.any.any()):
            return None
        return case if case.context == context else replace(case, context=context)
