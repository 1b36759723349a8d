"""The context of a decision: everything that it rests on besides the volume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.domain.evidence.evidence import Rankings
from plimsoll.domain.groups.group import Peer, is_short_lived
from plimsoll.domain.headroom import Growth, Headrooms
from plimsoll.domain.offers.offer import Market
from plimsoll.domain.offers.products import Shelf
from plimsoll.domain.policy import Policy
from plimsoll.domain.risk.histories import History
from plimsoll.domain.risk.promise import find_headrooms, goes_by_history
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionContext:
    """The grounds of a decision besides the volume: what is sold, what was measured, the policy and the time.

    `excluded` are volumes that people left out, by id, each with why. `rankings` keeps what the envelopes say of an
    offer, and `shelf` what is sold to volumes that are alike. `learned` is what headroom keeps which risk (None:
    nothing was learned), and `headrooms` are the policy's until `of` a volume. What is `short_lived` counts for its
    template alone: each such volume reads its image anew, so that this is its workload. In a `draft` frontiers are not
    drawn: what the answer is has to be known first. `peer` is what a reduction has to leave room for, None where there
    is no such volume. While the past that a promise rests on is still `unread`, any risk is taken, so that nothing else
    is proved meanwhile.
    """

    market: Market
    envelopes: Sequence[Envelope]
    policy: Policy
    headrooms: Headrooms
    now: datetime
    excluded: Mapping[str, str] = field(default_factory=dict)
    rankings: Rankings = field(default_factory=dict, repr=False, compare=False)
    shelf: Shelf = field(default_factory=Shelf, repr=False, compare=False)
    learned: LearnedTable | None = None
    draft: bool = False
    short_lived: bool = False
    peer: Peer | None = None
    unread: bool = False

    def of(self, volume: Volume) -> "DecisionContext":
        """The context with the policy that applies to a volume, its discounts and learned headroom included."""
        policy = self.policy.for_tags(volume.tags)
        book = replace(self.market.book, discounts_pct=policy.discounts_pct)
        short_lived = is_short_lived(volume, policy, self.now)
        own = replace(self, policy=policy, market=replace(self.market, book=book), short_lived=short_lived)
        return own.knowing(volume, self.looked_back(volume))

    def growing(self, growth: Growth | None) -> "DecisionContext":
        """The context with headroom for a growth as well; as it is where there is none."""
        return self if growth is None else replace(self, headrooms=self.headrooms.with_room_for(growth))

    def knowing(self, volume: Volume, history: History) -> "DecisionContext":
        """Adds the headroom that is learned for a history of the volume."""
        headrooms = find_headrooms(self.policy, self.learned, history, volume.owner.kind.value)
        return self if headrooms == self.headrooms else replace(self, headrooms=headrooms)

    @property
    def with_policy_headroom(self) -> "DecisionContext":
        """The context with the policy's headroom, as long as the past that a learned one rests on is unread."""
        return replace(self, headrooms=Headrooms.of_policy(self.policy))

    @property
    def goes_by_history(self) -> bool:
        """True if the headroom depends on a volume's past."""
        return goes_by_history(self.policy, self.learned)

    def looked_back(self, volume: Volume) -> History:
        """The history of a volume whose past was not read: the days of the window in which it existed."""
        age_days = (self.now - volume.created).total_seconds() / DAY_S
        return History(days=max(0.0, min(float(self.policy.lookback_days), age_days)))
