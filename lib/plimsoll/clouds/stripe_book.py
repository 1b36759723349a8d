"""The book of stripe sets: which volumes hosts use as one device, kept from run to run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from plimsoll.decide.groups import StripeSet, merge_sets
from plimsoll.files import atomic_path
from plimsoll.model.errors import BadInput
from plimsoll.ports import Target


@dataclass(slots=True, kw_only=True)
class StripeBook:
    """Known stripe sets, in a small JSON file; no volume is in two of them."""

    path: Path
    sets: list[StripeSet] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> "StripeBook":
        """The book in that file, empty where there is none; BadInput where it cannot be read."""
        if not path.exists():
            return cls(path=path)
        try:
            sets = sets_adapter().validate_json(path.read_bytes())
            wrong = _wrong(sets)
        except (OSError, ValidationError) as error:
            wrong = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        if wrong is not None:
            raise BadInput(
                f"the book of stripe sets {path} cannot be read ({wrong}): move it away, and ask the hosts again "
                "with `plimsoll stripes`."
            )
        return cls(path=path, sets=sets)

    def note(self, target: Target, host_id: str, found: Iterable[StripeSet]) -> list[StripeSet]:
        """Takes in all that a host told, and gives the sets that came of it; those of one volume are none.

        They replace what is known of that host, and sets elsewhere with one of their volumes. BadInput for a set of
        another host.
        """
        told = list(found)
        for one in told:
            if (one.account, one.region, one.host_id) != (target.account, target.region, host_id):
                raise BadInput(f"{one} was not told by {host_id} in {target}: inspect {one.host_id} itself.")
        sets = [one for one in merge_sets(told) if len(one.members) > 1]
        taken = {volume_id for one in sets for volume_id in one.members}
        here = (target.account, target.region, host_id)
        kept = [
            one for one in self.sets if (one.account, one.region, one.host_id) != here and not taken & set(one.members)
        ]
        self.sets = sorted([*kept, *sets], key=lambda one: (one.account, one.region, one.host_id, one.name))
        return sets

    def save(self) -> None:
        """Writes the book, whole or not at all; BadInput where the file cannot be written."""
        with atomic_path(self.path) as beside:
            beside.write_bytes(sets_adapter().dump_json(self.sets, indent=1) + b"\n")


@cache
def sets_adapter() -> TypeAdapter[list[StripeSet]]:
    """The reader and writer of stripe sets."""
    return TypeAdapter(list[StripeSet])


def _wrong(sets: Sequence[StripeSet]) -> str | None:
    seen: set[str] = set()
    for one in sets:
        if len(one.members) < 2:
            return f"{one.name} has fewer than two volumes"
        for volume_id in one.members:
            if volume_id in seen:
                return f"{volume_id} is named twice"
            seen.add(volume_id)
    return None
