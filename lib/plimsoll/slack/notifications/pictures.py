"""The pictures of a channel's part: the savings by account, and the demand of the volume that saves the most."""

import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.clouds.targets import named_target
from plimsoll.ports import RunStore, Target
from plimsoll.reports.profile_record import DemandProfileRecord
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.stored import DEMAND, find_profile, full_name
from plimsoll.service.service import Service
from plimsoll.service.shared_measurements import bring
from plimsoll.service.store_keys import RESULT, RunKeys
from plimsoll.service.stored_results import bring_needed, result_of
from plimsoll.slack.blocks.pictures import ROOFLINE, SAVINGS, Draft, drafts
from plimsoll.slack.notifications.channels import Part
from plimsoll.slack.notifications.posting import Picture

_log = logging.getLogger(__name__)

Draw = Callable[[Draft], bytes]
"""What makes a PNG image of a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """The pictures of one run; `folder` exists while they are drawn."""

    service: Service
    keys: RunKeys
    folder: Path
    draw: Draw

    def pictures_of(self, part: Part, *, but: Collection[str] = ()) -> Iterator[Picture]:
        """Those of a part of the run that can be drawn, `but` for some, by their files' names; a report is never worth
        less for one that cannot."""
        for name, drafted in ((SAVINGS, self._savings), (ROOFLINE, self._largest)):
            if name in but:
                continue
            try:
                found = [Picture(name=one.name, title=one.title, png=self.draw(one)) for one in drafted(part)]
            except Exception:  # noqa: BLE001  # whatever a drawing fails on, its message is worth more
                _log.exception("a picture of run %s cannot be drawn", self.keys.run_id)
            else:
                yield from found

    def _savings(self, part: Part) -> tuple[Draft, ...]:
        return drafts(part.saved_usd_by_account)

    def _largest(self, part: Part) -> tuple[Draft, ...]:
        record = part.largest
        profile = None if record is None else self._profile(record)
        if record is None or profile is None:
            return ()
        bring(self.service.store, self.service.measured)
        named = record.evidence.envelope if record.evidence else None
        return drafts({}, record, profile, self.service.envelopes(self.service.measured).get(named or ""))

    def _profile(self, record: RecommendationRecord) -> DemandProfileRecord | None:
        """What a volume was asked for, from whichever batch of its target has it; None where no more is kept."""
        target = named_target(record.account, record.region)
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
