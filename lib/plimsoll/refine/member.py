"""A member: a volume on its way to its answer, with what is judged of it."""

from dataclasses import dataclass, field, replace

from plimsoll.decide.answer import Change, Keep, Recommendation, Wait
from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.case_maker import case_of, renew_case
from plimsoll.decide.decide import answer, leave_to_template
from plimsoll.decide.groups import Peer
from plimsoll.decide.reasons import few_hours
from plimsoll.demand.days import NEVER, BusyHours, DaySums
from plimsoll.demand.demand import Demand
from plimsoll.demand.from_metrics import sums_of_knowledge
from plimsoll.demand.host_room import HostLoad
from plimsoll.demand.profile import DemandProfile, profile_of
from plimsoll.model.errors import CloudError
from plimsoll.model.policy import Growth
from plimsoll.model.volume import Volume
from plimsoll.past.memory import Idleness, find_idleness
from plimsoll.reading.known import Knowledge
from plimsoll.refine.next import Steps
from plimsoll.refine.past import Recall, may_be_idle


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
    """A volume on its way to its answer. Without a `context` only its traffic counts.

    - `in_set`: it is in a stripe set that is decided on as one. `pooled`: its host's volumes can share pools.
    - `whole`: it is read whole from the start. `asks_host`: it asks for its host's metrics, for all volumes there.
    - `recall` is its past (None: nothing of it can be read). `steps` finds how often its points come.
    - `peer` is the volume that it has to leave room for. `exact_peaks`: its peaks have to be known.
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
    _made: tuple[Case, Demand, HostLoad | None, DaySums | None] | None = None
    _answered: tuple[Case, Recommendation] | None = None

    def __post_init__(self) -> None:
        self.steps = Steps(self.volume, self.knowledge)

    @property
    def is_alone(self) -> bool:
        """True if it is decided on by itself."""
        return not (self.in_set or self.pooled)

    @property
    def growth(self) -> Growth | None:
        """The growth of its demand; None unless its past was asked for it."""
        return None if self.recall is None else self.recall.growth

    def size_context(self, context: DecisionContext) -> DecisionContext:
        """Its context with the headroom that is learned for its past, as far as that is read."""
        return context if self.recall is None else self.recall.size_context(context)

    def case(self, demand: Demand, load: HostLoad | None, context: DecisionContext) -> Case:
        """Its case with its past so far. What did not change since the last one is kept."""
        days = None if self.recall is None else self.recall.days
        earlier = NEVER if self.recall is None else self.recall.earlier
        case = self._renew(demand, load, context, days, earlier)
        if case is None:
            case = case_of(self.volume, demand, load, context, days, earlier)
        self._made = case, demand, load, days
        return case if self.recall is None else self.recall.remember(case)

    def idleness(self, case: Case) -> Idleness | None:
        """The time that it is known to have done nothing; None if it did, or that is not known."""
        if not may_be_idle(self.volume, case.demand):
            return None
        in_window = sums_of_knowledge(self.knowledge)
        days = in_window if self.recall is None else self.recall.with_window(in_window)
        return find_idleness(self.volume, days, self.knowledge.window, case.policy)

    def answer(self, case: Case) -> Recommendation:
        """The answer to its case, worked out once for the same case."""
        if self._answered is None or self._answered[0] is not case:
            self._answered = case, answer(case)
        return self._answered[1]

    def draw(self, case: Case, answered: Recommendation) -> tuple[Case, Recommendation]:
        """Its case and answer with what a draft left out."""
        if not is_to_be_drawn(answered):
            return case, answered
        case = replace(case, context=replace(case.context, draft=False))
        return case, answer(case)

    def forget(self) -> None:
        """Lets go of its case and its answer's: what was judged of it stays."""
        self._made = self._answered = None

    def _renew(
        self,
        demand: Demand,
        load: HostLoad | None,
        context: DecisionContext,
        days: DaySums | None,
        earlier: BusyHours | None,
    ) -> Case | None:
        """Its last case with the parts that came later; None if another demand, load or policy changes more. Days of
        the past only say what was held back."""
        if self._made is None:
            return None
        case, made_of, load_of_host, known = self._made
        same = made_of is demand and load_of_host is load and case.policy == context.policy
        if not same or (known is not days and case.lifted.any.any()):
            return None
        return renew_case(case, context, earlier)


def judge_case(case: Case, answered: Recommendation, *, keep_demand: bool, settled: bool) -> Judged:
    """The answer to a case; with the profile if nothing is left to be read."""
    demand = case.demand
    profile = profile_of(demand, throttled=case.lifted.any, host_bound=case.room.bound) if settled else None
    answered = leave_to_template(case, answered, few_hours(case))
    return Judged(recommendation=answered, profile=profile, demand=demand if keep_demand else None)


def is_to_be_drawn(answered: Recommendation) -> bool:
    """True if a draft left out a frontier that is worth drawing, or the price of more safety."""
    is_promised = isinstance(answered, Change) and answered.risk is not None and answered.risk.promised_pct is not None
    return is_promised or (isinstance(answered, Keep | Change | Wait) and len(answered.comparison.frontier) == 1)
