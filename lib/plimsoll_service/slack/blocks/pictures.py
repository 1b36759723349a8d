"""The pictures in a report's thread: what can be saved in each account, and what the largest saving rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.model.envelope import Envelope
from plimsoll.reports.charts.pictures import Picture
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.charts.savings import savings_chart
from plimsoll.reports.charts.theme import LIGHT
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord, saved_cents
from plimsoll.reports.run_reader import Only, matched_records
from plimsoll.reports.steps import CENT
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import short_name
from plimsoll_service.slack.blocks.elements import line

SAVINGS_PX: Final = 440
ROOFLINE_PX: Final = 560
"""Slack shows a picture some 360 pixels wide, where the text of a much wider one could not be read; in a narrower plane
the names of the roofs would stand in each other's way."""

SAVINGS: Final = "savings.png"
ROOFLINE: Final = "roofline.png"
"""The pictures, by their files' names."""

SCALE: Final = 2.0
"""Pixels of the image for each of the picture, for screens that have them, and for who opens it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A picture that is not drawn yet: its file's name, what it shows in a few words, and how wide it is to be."""

    name: str
    title: str
    chart: Picture
    width_px: int
    profile: DemandProfileRecord | None = None

    def png(self) -> bytes:
        """The picture as a PNG image, on white."""
        from plimsoll.reports.charts.render import to_png, vega_spec  # noqa: PLC0415  # the extra `charts` brings it

        return to_png(vega_spec(self.chart, self.profile, LIGHT, self.width_px), SCALE)


def drafts(
    by_account: Mapping[str, float],
    largest: RecommendationRecord | None = None,
    profile: DemandProfileRecord | None = None,
    envelope: Envelope | None = None,
) -> tuple[Draft, ...]:
    """The pictures of a report that have something to show.

    The first shows savings by account, in USD a month, if several accounts save. The second shows the recommendation
    that saves most, if its demand was observed, with the measurements of its offer's class.
    """
    pictures: list[Draft] = []
    if sum(usd_month >= CENT for usd_month in by_account.values()) > 1:
        chart = savings_chart(by_account)
        pictures.append(Draft(name=SAVINGS, title="Savings by account", chart=chart, width_px=SAVINGS_PX))
    if largest is not None and profile is not None:
        chart = roofline_picture(largest, profile, envelope)
        title = f"The largest saving, {line(short_name(largest))}: its demand and what can carry it"
        pictures.append(Draft(name=ROOFLINE, title=title, chart=chart, width_px=ROOFLINE_PX, profile=profile))
    return tuple(pictures)


def run_drafts(folder: Path, envelopes: Mapping[str, Envelope], only: Only | None = None) -> tuple[Draft, ...]:
    """The pictures of a run on disk, of all volumes or those that `only` takes; `envelopes` are the measured ones, by
    name.

    Raises BadInput if the folder is damaged. Memory grows with the accounts, not with the volumes.
    """
    totals = RunTotals.add_up((), by=("account",))
    largest, observed, most_cents = None, None, 0
    for record, profile in matched_records(folder, only):
        totals.add(record)
        saved = saved_cents(record)
        if saved > most_cents:
            largest, observed, most_cents = record, profile, saved
    named = largest.evidence.envelope if largest is not None and largest.evidence is not None else None
    savings = {account: part.usd_saved for account, part in totals.by["account"].items()}
    return drafts(savings, largest, observed, envelopes.get(named or ""))
