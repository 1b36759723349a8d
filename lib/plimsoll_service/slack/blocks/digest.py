"""The digest: a run's records counted as they go by, and the volumes that lists show in a few plain words.

Memory grows with the accounts and not with the volumes.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from plimsoll.model.kinds import CHANGES, CountsAs
from plimsoll.reports.record import RecommendationRecord, saved_cents
from plimsoll.reports.run_reader import full_name
from plimsoll.reports.sorting import MONEY, SORTS, Largest, Weight
from plimsoll.reports.steps import EVIDENCE, STEP_NAMES, Step, step_of
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import (
    GRADE_NAMES,
    change_words,
    losses_in_words,
    outcome_text,
    owner_text,
    plight,
    risk_level,
    risk_text,
    words_of,
)
from plimsoll_service.slack.blocks.elements import line

_THROTTLED: Final = 3

_GROUPS: Final = 200
"""The most owners of blocked volumes that are told apart, so that a name for each volume does not fill the memory."""

OWNER_BY_HAND: Final = "made by hand"
OTHERS: Final = "others"
"""Words for owners without a name of their own."""

_SIGNS: Final = 120
"""Characters shown of what is given up or forbids a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedVolume:
    """A volume as a list shows it, and no more, because every account keeps some of these.

    `id` is empty where the volume has no name and is called by its id. `unproved`: a measurement would add evidence.
    """

    volume: str
    name: str
    id: str
    account: str
    region: str
    outcome: str
    change: str
    risk: str
    saved_cents: int
    unproved: bool

    def place(self, *, account: bool = True) -> str:
        """Its region, after its account unless that is told already."""
        return f"{self.account}, {self.region}" if account else self.region


def list_volume(record: RecommendationRecord, *, measured: bool = True) -> ListedVolume:
    """A volume as lists show it; `measured`: something can be measured where it is."""
    name, volume_id = line(record.name or ""), line(record.volume_id)
    return ListedVolume(
        volume=full_name(record),
        name=name or volume_id or "a volume without a name",
        id=volume_id if name else "",
        account=line(record.account),
        region=line(record.region),
        outcome=outcome_text(record),
        change=line(change_words(record), _SIGNS),
        risk=" ".join(filter(None, [_group_words(record), _risk(record)])),
        saved_cents=saved_cents(record),
        unproved=measured and _needs_evidence(record),
    )


def _needs_evidence(record: RecommendationRecord) -> bool:
    thin = step_of(record) is Step.MEASURE or (record.evidence is not None and record.evidence.grade != "A")
    return record.action in CHANGES and thin


def _group_words(record: RecommendationRecord) -> str:
    if record.stripe_set is not None:
        return f"Changed together with its stripe set of {len(record.stripe_set.members):,} volumes."
    if record.pool and record.action in CHANGES:
        return f"Changed together with its pool of {len(record.pool) + 1:,} volumes."
    return ""


def _risk(record: RecommendationRecord) -> str:
    """The losses or blockers of a change, its evidence, and how likely it is outgrown."""
    return " ".join(filter(None, [_lead(record), _chance(record)]))


def _chance(record: RecommendationRecord) -> str:
    """The risk of a reduction; empty where no limit is lowered."""
    level = risk_level(record)
    if level is None or level == "none":
        return ""
    above = ", above the policy's" if level == "above" else ""
    return f"Risk: {risk_text(record)}{above}."


def _lead(record: RecommendationRecord) -> str:
    """The blocker of a change; else its step, what it gives up and its evidence."""
    forbidden = next((blocker.text for blocker in record.blockers if blocker.code != EVIDENCE), None)
    if forbidden is not None:
        return f"Blocked today: {line(forbidden, _SIGNS).removesuffix('.')}."
    step = step_of(record)
    lead = plight(record) if step is Step.THROTTLED else STEP_NAMES[step]
    if record.losses:
        lead = f"{lead}: gives up {line(', '.join(losses_in_words(record)), _SIGNS)}"
    grade = "" if record.evidence is None else record.evidence.grade
    return f"{lead[:1].upper()}{lead[1:]}{f' (evidence {grade}: {GRADE_NAMES[grade]})' if grade else ''}."


@dataclass(slots=True)
class DigestSums:
    """The totals of some volumes, and the listed ones among them: those that save most, and the worst throttled.

    `until` is the day on which the first of those that wait can be judged, None if none waits. `blocked` is what is
    forbidden today, by owner and by the code of what forbids it. `quiet` counts the volumes that save and are not to be
    listed.
    """

    most: int
    totals: RunTotals = field(default_factory=RunTotals)
    quiet: int = 0
    until: str | None = None
    savers: Largest[ListedVolume] = field(init=False)
    saved_cents: int = 0
    throttled: Largest[ListedVolume] = field(init=False)
    blocked: dict[tuple[str, str], RunTotals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.savers = Largest(most=self.most)
        self.throttled = Largest(most=_THROTTLED)

    @property
    def has_work(self) -> bool:
        """True if there is something to do."""
        has_costs = self.totals.volumes_counted_as(CountsAs.COST) > 0
        return bool(self.savers.total or self.quiet or self.throttled.total or has_costs)

    def count(self, record: RecommendationRecord, volume: ListedVolume | None, weight: float) -> None:
        """Counts a recommendation that has a `weight` among those that save.

        `volume` is how it is listed, None if it saves nothing and is not throttled.
        """
        self.totals.add(record)
        if record.blockers:
            self._block(record)
        if record.wait is not None:
            self.until = min(record.wait.until, self.until or record.wait.until)
        if volume is None:
            return
        if record.kind.money is CountsAs.MORE:
            self.throttled.add(record.demand.throttled_minutes if record.demand else 0.0, record.volume_id, volume)
        if volume.saved_cents > 0:
            self.saved_cents += volume.saved_cents
            self.savers.add(weight, record.volume_id, volume)

    def _block(self, record: RecommendationRecord) -> None:
        codes = [blocker.code for blocker in record.blockers]
        code = next((code for code in codes if code != EVIDENCE), EVIDENCE)
        key = (line(OWNER_BY_HAND if record.owner.kind == "hand" else owner_text(record.owner)), code)
        if key not in self.blocked and len(self.blocked) >= _GROUPS:
            key = (OTHERS, code)
        self.blocked.setdefault(key, RunTotals(by={})).add(record)


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
        weight: Weight = SORTS[MONEY],
    ) -> None:
        self.whole = DigestSums(most)
        self.accounts: dict[str, DigestSums] = {}
        self.called: dict[str, str] = {}
        """What its cloud calls each of these."""
        self._quiet = frozenset(quiet)
        self._measured = measured
        self._weight = weight

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        if record.account not in self.accounts:
            self.accounts[record.account] = DigestSums(self.whole.most)
            self.called[record.account] = words_of(record.provider).account
        quiet = full_name(record) in self._quiet
        saves = saved_cents(record) > 0
        shown = (saves or record.kind.money is CountsAs.MORE) and not quiet
        volume = list_volume(record, measured=self._measured(record)) if shown else None
        for sums in (self.whole, self.accounts[record.account]):
            sums.quiet += quiet and saves
            sums.count(record, volume, self._weight(record))
