"""A volume in a list: its change, its money, and on what evidence and at what risk, in a few plain words."""

from dataclasses import dataclass
from typing import Final

from plimsoll.domain.reasons import GIVEN_UP
from plimsoll.domain.recommendation import CHANGES
from plimsoll.reports.record import RecommendationRecord, saved_cents
from plimsoll.reports.run_reader import full_name
from plimsoll.reports.steps import EVIDENCE, Step, step_of
from plimsoll.reports.wording import change_words, given_up, outcome_text, plight
from plimsoll.slack.blocks.text import line

_EVIDENCE: Final = {
    "A": "evidence A: measured here",
    "B": "evidence B: measured elsewhere or earlier",
    "C": "evidence C: published limits only",
}
_RISKS: Final = {
    Step.SAFE: "Safe: all of today's IOPS and MiB/s can be kept",
    Step.PROVED: "Proved: carries the measured demand with less to spare",
    Step.MEASURE: "Measure first",
}
_SIGNS: Final = 120
"""Characters shown of what is given up or forbids a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a list shows of a volume, and no more, because every account keeps some of these.

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
        """Where it is; without its account where that is told already."""
        return f"{self.account}, {self.region}" if account else self.region


def listed(record: RecommendationRecord, *, measured: bool = True) -> Listed:
    """A volume as lists show it; `measured`: something can be measured where it is."""
    name, volume_id = line(record.name or ""), line(record.volume_id)
    return Listed(
        volume=full_name(record),
        name=name or volume_id or "a volume without a name",
        id=volume_id if name else "",
        account=line(record.account),
        region=line(record.region),
        outcome=outcome_text(record),
        change=line(change_words(record), _SIGNS),
        risk=" ".join(filter(None, [_together(record), _risk(record)])),
        saved_cents=saved_cents(record),
        unproved=measured and _unproved(record),
    )


def _unproved(record: RecommendationRecord) -> bool:
    """Whether a measurement would add to the evidence of a change."""
    thin = step_of(record) is Step.MEASURE or (record.evidence is not None and record.evidence.grade != "A")
    return record.action in CHANGES and thin


def _together(record: RecommendationRecord) -> str:
    if record.stripe_set is not None:
        return f"Changed together with its stripe set of {len(record.stripe_set.members):,} volumes."
    if record.pool and record.action in CHANGES:
        return f"Changed together with its pool of {len(record.pool) + 1:,} volumes."
    return ""


def _risk(record: RecommendationRecord) -> str:
    """What may be lost or stands in the way, and what the change rests on."""
    forbidden = next((blocker.text for blocker in record.blockers if blocker.code != EVIDENCE), None)
    if forbidden is not None:
        return f"Blocked today: {line(forbidden, _SIGNS).removesuffix('.')}."
    step = step_of(record)
    lead = _RISKS.get(step, "")
    if step is Step.TRADE:
        lost = ", ".join(lost.removeprefix(GIVEN_UP) for lost in given_up(record))
        lead = f"Owner decides: gives up {line(lost, _SIGNS)}"
    elif step is Step.THROTTLED:
        lead = plight(record).capitalize()
    evidence = _EVIDENCE[record.evidence.grade] if record.evidence else ""
    if lead and evidence:
        return f"{lead} ({evidence})."
    return f"{lead or evidence.capitalize()}." if lead or evidence else ""
