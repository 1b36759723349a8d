"""The digest: what a report in Slack needs of a run, counted as its records go by, in memory that grows with the
accounts and not with the volumes."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from plimsoll.reports.cloud_terms import words_of
from plimsoll.reports.largest import Largest
from plimsoll.reports.record import OwnerRecord, RecommendationRecord, saved_cents
from plimsoll.reports.run_reader import full_name
from plimsoll.reports.steps import EVIDENCE, Step, step_of
from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import owner_text
from plimsoll.slack.blocks.text import line
from plimsoll.slack.blocks.volume import Listed, listed

_THROTTLED: Final = 3

_GROUPS: Final = 200
"""How many owners of blocked volumes are told apart, so that a name for each volume does not fill the memory."""

BY_HAND: Final = "made by hand"
OTHERS: Final = "others"
"""What stands for owners without a name of their own."""


@dataclass(slots=True)
class Sums:
    """What some volumes add up to, and those of them that are listed: the most that save, and the worst throttled.

    `steps` is what can be saved, by what has to be done for it. `blocked` is what is forbidden today, by owner and by
    the code of what forbids it. `quiet` counts the volumes that save and are not to be listed, `dearer` those throttled
    ones whose speed costs more.
    """

    most: int
    totals: Totals = field(default_factory=Totals)
    quiet: int = 0
    dearer: int = 0
    steps: dict[Step, Totals] = field(default_factory=dict)
    savers: Largest[Listed] = field(init=False)
    saved_cents: int = 0
    throttled: Largest[Listed] = field(init=False)
    blocked: dict[tuple[str, str], Totals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.savers = Largest(most=self.most)
        self.throttled = Largest(most=_THROTTLED)

    @property
    def busy(self) -> bool:
        """Whether there is something to do."""
        return bool(self.savers.total or self.quiet or self.throttled.total or self.totals.actions["detached"])

    def count(self, record: RecommendationRecord, one: Listed | None) -> None:
        """Counts a recommendation; `one` is how it is listed, None where it saves nothing and is not throttled."""
        self.totals.add(record)
        self.dearer += record.action == "upgrade" and record.monthly_usd_saved < 0
        if saved_cents(record) > 0:
            self.steps.setdefault(step_of(record), Totals(by={})).add(record)
        if record.blockers:
            self._block(record)
        if one is None:
            return
        if record.action == "upgrade":
            self.throttled.add(record.demand.throttled_minutes if record.demand else 0.0, record.volume_id, one)
        if one.saved_cents > 0:
            self.saved_cents += one.saved_cents
            self.savers.add(one.saved_cents, record.volume_id, one)

    def _block(self, record: RecommendationRecord) -> None:
        codes = [blocker.code for blocker in record.blockers]
        code = next((code for code in codes if code != EVIDENCE), EVIDENCE)
        key = (line(_maker(record.owner)), code)
        if key not in self.blocked and len(self.blocked) >= _GROUPS:
            key = (OTHERS, code)
        self.blocked.setdefault(key, Totals(by={})).add(record)


def _maker(owner: OwnerRecord) -> str:
    return BY_HAND if owner.kind == "hand" else owner_text(owner)


class Digest:
    """A run's records counted, as a whole and by account.

    `most` is how many volumes the report lists. `quiet` names volumes, as account/region/id, that are counted and not
    listed: those that somebody has snoozed. `measured` says of a record whether something can be measured where its
    volume is; only then has it a button for that.
    """

    def __init__(
        self,
        most: int = 10,
        *,
        quiet: Collection[str] = (),
        measured: Callable[[RecommendationRecord], bool] = lambda _record: True,
    ) -> None:
        self.whole = Sums(most)
        self.accounts: dict[str, Sums] = {}
        self.called: dict[str, str] = {}
        """What its cloud calls each of these."""
        self._quiet = frozenset(quiet)
        self._measured = measured

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        if record.account not in self.accounts:
            self.accounts[record.account] = Sums(self.whole.most)
            self.called[record.account] = words_of(record.provider).account
        quiet = full_name(record) in self._quiet
        saves = saved_cents(record) > 0
        shown = (saves or record.action == "upgrade") and not quiet
        one = listed(record, measured=self._measured(record)) if shown else None
        for sums in (self.whole, self.accounts[record.account]):
            sums.quiet += quiet and saves
            sums.count(record, one)
