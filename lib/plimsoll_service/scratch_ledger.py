"""The ledger of scratch volumes: the targets that may have one, so that a sweep need not ask all the others.

A target is noted before a volume is made there. It stays until the last deadline has passed and no volume was found.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from pydantic import AwareDatetime, BaseModel, ConfigDict

from plimsoll.clouds.targets import named_target
from plimsoll.jobs.document import StoredDocument
from plimsoll.ports import RunStore, Target

_LEDGER: Final = "scratch/"
_ENDING: Final = ".json"


class _Note(BaseModel):
    """The time until which a scratch volume may be there."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    until: AwareDatetime


def note_scratch(store: RunStore, target: Target, until: datetime) -> None:
    """Notes that a volume with that deadline may be at a target, from now on."""
    noted = _document(target).get(store)
    if noted is None or noted.until < until:
        _document(target).put(store, _Note(until=until))


def noted_targets(store: RunStore, account: str | None = None) -> Iterator[Target]:
    """The targets that may have a scratch volume, of all accounts or of one."""
    for key in store.keys(_LEDGER if account is None else f"{_LEDGER}{account}/"):
        yield named_target(*key.removeprefix(_LEDGER).removesuffix(_ENDING).split("/"))


def forget_scratch(store: RunStore, target: Target, now: datetime) -> None:
    """Forgets a target at which nothing was found, unless a volume may still be made there."""
    noted = _document(target).get(store)
    if noted is not None and noted.until < now:
        _document(target).delete(store)


def _document(target: Target) -> StoredDocument[_Note]:
    return StoredDocument(f"{_LEDGER}{target}{_ENDING}", _Note, "note of", "delete it, and sweep everywhere")
