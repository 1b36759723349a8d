"""The pictures of a report's thread: savings by account, and the roofline of the largest saving."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.envelope import Envelope
from plimsoll.reports.charts.drawing import spec_of, to_png
from plimsoll.reports.charts.picture import Picture as Chart
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.charts.savings import savings_chart
from plimsoll.reports.charts.theme import THEMES, ThemeName
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.slack.text import line
from plimsoll.reports.steps import CENT
from plimsoll.slack.posting import Picture

SCALE: Final = 2
"""Pixels of the image for each of the picture, for screens that have them."""

_MOST_TITLE: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A picture that is not drawn yet: its file's name, and what it shows."""

    name: str
    title: str
    chart: Chart
    profile: DemandProfileRecord | None = None

    def drawn(self) -> Picture:
        """The picture as it is posted."""
        spec = spec_of(self.chart, self.profile, THEMES[ThemeName.LIGHT])
        return Picture(name=self.name, title=self.title, png=to_png(spec, SCALE))


def drafts(
    by_account: Mapping[str, float],
    largest: RecommendationRecord | None = None,
    profile: DemandProfileRecord | None = None,
    envelope: Envelope | None = None,
) -> tuple[Draft, ...]:
    """The pictures that there are: of savings by account, USD a month, where several accounts save; and of the
    recommendation that saves most, where its demand was observed, with what was measured of its offer's class."""
    return tuple(_drafts(by_account, largest, profile, envelope))


def _drafts(
    by_account: Mapping[str, float],
    largest: RecommendationRecord | None,
    profile: DemandProfileRecord | None,
    envelope: Envelope | None,
) -> Iterator[Draft]:
    if sum(usd_month >= CENT for usd_month in by_account.values()) > 1:
        chart = savings_chart(by_account)
        yield Draft(name="savings.png", title=line(chart.title, _MOST_TITLE), chart=chart)
    if largest is not None and profile is not None:
        chart = roofline_picture(largest, profile, envelope)
        title = line(f"Roofline of {largest.volume_id}: {chart.title}", _MOST_TITLE)
        yield Draft(name="roofline.png", title=title, chart=chart, profile=profile)
