"""Facts of a run: what an output says of how it went, besides its rates."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.evidence.envelope import RunFacts
from plimsoll.envelopes.printed import DIRECTIONS, PrintedEntry, number_in, scaled_iops, sides

_COUNT: Final = re.compile(r"\d+")


def run_facts(one: PrintedEntry) -> RunFacts:
    """The facts of the run that a result is from."""
    figures = one.figures
    disks = [figures["disk"]] if "disk" in figures else list(figures.get("disks", {}).values())
    named = {"disk": str(figures["disk"].get("name", ""))} if "disk" in figures else figures.get("disks", {})
    devices = (*(named.values() if "disk" in figures else named), *([figures["dev"]] if "dev" in figures else []))
    members = [len(str(disk["members"]).split()) for disk in disks if "members" in disk]
    return RunFacts(
        error=int(figures.get("error", 0)),
        lost_share=_lost_share(figures),
        devices=tuple(str(name) for name in devices),
        members=max(members, default=None),
        read_too={"read", "write"}
        <= {name for name, side in sides(one) if name in DIRECTIONS and scaled_iops(side) > 0},
    )


def _lost_share(figures: Mapping[str, Any]) -> float | None:
    """The share of the operations that were short or dropped; None where nothing counts them."""
    issued, lost = list(_each(figures, "total")), [*_each(figures, "short"), *_each(figures, "dropped")]
    if not issued or not lost:
        return None
    total = sum(issued)
    return sum(lost) / total if total else None


def _each(figures: Mapping[str, Any], name: str) -> Iterator[float]:
    """The counts of that name that a result issued, of all its jobs and directions."""
    for key, value in figures.items():
        if key == "issued_rwts":
            yield from (number_in(count) for count in _COUNT.findall(str(value.get(name, ""))))
        elif isinstance(value, Mapping):
            yield from _each(value, name)
