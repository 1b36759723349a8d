"""The pictures of a report in Slack: what can be saved in each account, and what the largest saving rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from plimsoll.domain.envelope import Envelope
from plimsoll.reports.charts.drawing import spec_of, to_png
from plimsoll.reports.charts.picture import Picture, plain
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.charts.savings import savings_chart
from plimsoll.reports.charts.theme import LIGHT
from plimsoll.reports.money import Money, money_of
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import CENT
from plimsoll.reports.summary.matched import Matched, Only, matched_records
from plimsoll.reports.wording import short_name

SAVINGS_PX: Final = 440
ROOFLINE_PX: Final = 560
"""Slack shows a picture some 360 pixels wide, where the text of a much wider one could not be read; in a narrower plane
the names of the roofs would stand in each other's way."""

SCALE: Final = 2.0


@dataclass(slots=True)
class Pictures:
    """What the pictures of a report need of its volumes; it grows with the accounts, not with the fleet."""

    by_account: dict[str, Money] = field(default_factory=dict)
    largest: tuple[RecommendationRecord, DemandProfileRecord] | None = None

    def count(self, volume: Matched) -> None:
        """Counts a volume, by its recommendation and the profile of its demand."""
        record, profile = volume
        self.by_account[record.account] = self.by_account.get(record.account, Money()) + money_of(record)
        if profile is not None and record.ceilings is not None and _saving(record) > self._most:
            self.largest = record, profile

    def drawn(self, envelopes: Mapping[str, Envelope]) -> Iterator[tuple[str, bytes]]:
        """Titles and PNG images, none of what there is nothing to show; `envelopes` are those measured, by name."""
        savings = {account: money.usd_saved for account, money in self.by_account.items()}
        if any(usd_month >= CENT for usd_month in savings.values()):
            yield "Savings by account", _png(savings_chart(savings), None, SAVINGS_PX)
        if self.largest is not None:
            record, profile = self.largest
            envelope = envelopes.get(record.evidence.envelope or "") if record.evidence else None
            title = f"The largest saving, {plain(short_name(record))}: its demand and what can carry it"
            yield title, _png(roofline_picture(record, profile, envelope), profile, ROOFLINE_PX)

    @property
    def _most(self) -> float:
        return 0.0 if self.largest is None else _saving(self.largest[0])


def run_pictures(
    folder: Path, envelopes: Mapping[str, Envelope], only: Only | None = None
) -> Iterator[tuple[str, bytes]]:
    """Titles and PNG images of a run on disk, of the volumes that `only` takes where it is given; BadInput where the
    folder is damaged. The rest is as of `Pictures.drawn`."""
    pictures = Pictures()
    for volume in matched_records(folder, only):
        pictures.count(volume)
    return pictures.drawn(envelopes)


def _saving(record: RecommendationRecord) -> float:
    return money_of(record).usd_saved


def _png(picture: Picture, profile: DemandProfileRecord | None, width: int) -> bytes:
    return to_png(spec_of(picture, profile, LIGHT, width), SCALE)
