"""Pictures of what a channel is told: the savings by account, and the demand of the volume that saves the most."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.ports import RunStore, Target
from plimsoll.reports.charts.drawing import spec_of, to_png
from plimsoll.reports.charts.picture import Picture as Chart
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.charts.savings import savings_chart
from plimsoll.reports.charts.theme import THEMES, ThemeName
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import DEMAND, find_profile, full_name
from plimsoll.service.kept import bring_needed, result_of
from plimsoll.service.layout import RESULT, RunKeys
from plimsoll.service.measured import bring
from plimsoll.service.service import Service
from plimsoll.service.telling.parts import Part
from plimsoll.slack.posting import Picture

_SHARP: Final = 2.0
"""Pixels of an image for each of a chart's own: Slack shows images on screens of twice the usual density."""

_log = logging.getLogger(__name__)

Draw = Callable[[Chart, DemandProfileRecord | None], bytes]
"""What makes a PNG image of a chart; the profile is that of its volume."""


def drawn(chart: Chart, profile: DemandProfileRecord | None) -> bytes:
    """The chart as a PNG image on white."""
    return to_png(spec_of(chart, profile, THEMES[ThemeName.LIGHT]), _SHARP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The pictures of one run; `folder` is there for as long as they are made."""

    service: Service
    keys: RunKeys
    folder: Path
    draw: Draw

    def pictures_of(self, part: Part) -> Iterator[Picture]:
        """Those of a part of the run that can be drawn; a report is never worth less for one that cannot."""
        for make in (self._savings, self._roofline):
            try:
                picture = make(part)
            except Exception:  # noqa: BLE001  # whatever a drawing fails on, its message is worth more
                _log.exception("a picture of run %s cannot be drawn", self.keys.run_id)
                continue
            if picture is not None:
                yield picture

    def _savings(self, part: Part) -> Picture | None:
        by_account = part.saved_usd_by_account
        if len(by_account) < 2 or not any(by_account.values()):
            return None
        chart = savings_chart(by_account)
        return Picture(name="savings-by-account.png", title=chart.title, png=self.draw(chart, None))

    def _roofline(self, part: Part) -> Picture | None:
        record = part.largest
        profile = None if record is None else self._profile(record)
        if record is None or profile is None:
            return None
        bring(self.service.store, self.service.measured)
        named = record.evidence.envelope if record.evidence else None
        envelope = self.service.envelopes(self.service.measured).get(named) if named else None
        chart = roofline_picture(record, profile, envelope)
        title = f"{chart.subject}: {chart.title}"
        return Picture(name="largest-saving.png", title=title, png=self.draw(chart, profile))

    def _profile(self, record: RecommendationRecord) -> DemandProfileRecord | None:
        """What a volume was asked for, from whichever batch of its target has it; None where no more is kept."""
        target = Target(account=record.account, region=record.region)
        kept = self.folder / full_name(record)
        for folder in _answered(self.keys, target, self.service.store, kept):
            found = find_profile(folder, full_name(record))
            if found is not None:
                return found
        return None


def _answered(keys: RunKeys, target: Target, store: RunStore, folder: Path) -> Iterator[Path]:
    """The folder, with the demand of one answered batch of a target after the other."""
    there = store.keys(f"{keys.results}{target}/")
    for batch in sorted(keys.batches_in(there, keys.results, f"/{RESULT}")):
        attempt = result_of(store, keys.result(batch)).attempt
        bring_needed(store, keys.answered(batch, attempt, DEMAND), folder / DEMAND)
        yield folder
