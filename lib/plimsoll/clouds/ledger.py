"""The ledger of changes: clouds show only a volume's latest change, and four a day is the limit, so they are noted."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from plimsoll.domain.errors import BadInput
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, Inventory, Target, UnreadVolume
from plimsoll.writing import whole

KEPT = timedelta(days=2)
"""Changes older than this no longer count against any limit and are dropped."""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Starts of changes by volume id, as seen by successive audits, in a small JSON file."""

    path: Path
    starts: dict[str, set[datetime]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> "Ledger":
        """The ledger in that file, empty where there is none; BadInput where it cannot be read."""
        if not path.exists():
            return cls(path=path)
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
            starts = {volume_id: {_zoned(start) for start in found} for volume_id, found in noted.items()}
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise BadInput(
                f"the ledger of changes {path} cannot be read ({error}): move it away, and a new one is begun."
            ) from error
        return cls(path=path, starts=starts)

    def note(self, volume: Volume) -> Volume:
        """The volume with every change known of it; its latest is noted for later audits."""
        if volume.modification is not None:
            self.starts.setdefault(volume.id, set()).add(volume.modification.started)
        return replace(volume, recent_changes=tuple(sorted(self.starts.get(volume.id, ()))))

    def save(self, now: datetime) -> None:
        """Writes what still counts; BadInput where the file cannot be written."""
        kept = {
            volume_id: sorted(start.isoformat() for start in found if now - start < KEPT)
            for volume_id, found in sorted(self.starts.items())
        }
        with whole(self.path) as beside:
            beside.write_text(json.dumps({name: found for name, found in kept.items() if found}), encoding="utf-8")


def _zoned(written: str) -> datetime:
    """The time that is written; ValueError for one without a zone, which could be any."""
    time = datetime.fromisoformat(written)
    if time.tzinfo is None:
        raise ValueError(f"{written} has no time zone")
    return time


@dataclass(slots=True, kw_only=True)
class NotedInventory:
    """An inventory whose volumes carry the changes that the ledger knows."""

    inventory: Inventory
    ledger: Ledger

    def targets(self) -> Sequence[Target | FailedTarget]:
        """As the inventory has them."""
        return self.inventory.targets()

    def volumes(self, target: Target) -> Iterator[Volume | UnreadVolume]:
        """The target's volumes with their known changes."""
        for one in self.inventory.volumes(target):
            yield self.ledger.note(one) if isinstance(one, Volume) else one

    def notices(self, target: Target) -> Sequence[str]:
        """As the inventory has them."""
        return self.inventory.notices(target)
