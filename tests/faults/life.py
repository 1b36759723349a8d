"""Life: which faults cannot be told from what happens to a healthy account, and of which volumes.

An answer that is whole and agrees with itself is all that anybody has. A volume that it does not list was deleted, for
all that can be known; tags that it does not list were never set. What such an answer changes is counted on its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .places import Path, Place, places_of
from .plan import ALWAYS, Strike

_LISTED: Final = {("volumeSet",), ("volumeSet", "*"), ("volumeSet", "*", "volumeId")}
_OF_A_VOLUME: Final = ("tagSet", "operator")
"""Fields of a volume that AWS leaves out where there is nothing to say."""
_SERIES: Final = ("timeSeries",)
"""Of Cloud Monitoring: a disk with nothing but zeros in every series is an idle one."""
_OF_A_CHANGE: Final = ("volumeModificationSet",)
_ABOVE: Final = frozenset({"folders"})
"""Lists of what can have projects in it: where a folder has none below, nothing below it is asked for."""
_ACCOUNTS: Final[Mapping[str, str]] = {"projects": "projectId", "Accounts": "Id"}
"""Lists of accounts, with the field that names each: what is not listed is no member any more."""
_TAG_VALUE: Final = ("tagSet", "*", "value")
"""The value of a tag, which may be empty (Amazon EC2 API Reference, Tag), or any other text; its key may not be empty.
What has the wrong type is a text like another in XML."""
_OTHER_TEXT: Final = frozenset({"empty-text", "wrong-type"})
_TAKES_AWAY: Final = frozenset({"absent", "empty-list", "item-lost", "unknown-id"})
_NULL_IS_ABSENT: Final = frozenset({"folders", "projects"})
"""Lists of Google. A null there is a field that is absent (Protocol Buffers, ProtoJSON Format: null is the default)."""
_IN_XML_EMPTY: Final = "null"
"""XML has no null: a list that is null is an empty one there, as of a volume without tags."""
_SAME_ID: Final = "same-id"
"""A modification under the id of another volume: nothing else in it says whose it was."""
_SEATED: Final = ("instances", "*", "disks", "*", "source")
"""The disks of a Google instance, each with the device name that its metrics go by. Where they only change places on
one instance, both lists of Compute Engine still agree, and a device name is anybody's free text."""


@dataclass(frozen=True, slots=True)
class Life:
    """What cannot be told from life: of these volumes, or of everything; where something is `unlisted` that volumes are
    in, or their `accounts` are, that they are nowhere.

    `cheaper`: even an answer that became cheaper or carries less, which no other kind may lead to.
    """

    volumes: frozenset[str] = field(default_factory=frozenset)
    everything: bool = False
    unlisted: bool = False
    accounts: frozenset[str] = field(default_factory=frozenset)
    cheaper: bool = False
    _before: frozenset[str] = field(default_factory=frozenset)
    _seated: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def covers(
        self, volume_id: str, name: str | None = None, account: str | None = None, *, lost: bool = False
    ) -> bool:
        """Whether it can be the reason for what became of a volume of that id or name, or that it is `lost`, if it is
        of that account."""
        nowhere = lost and (self.unlisted or account in self.accounts)
        return self.everything or nowhere or not self.volumes.isdisjoint({volume_id, name})

    def after(self, tree: Any) -> "Life":
        """With the volumes that the answer no longer lists, and the disks that changed places on their instance."""
        gone = self._before - frozenset(_ids(tree))
        accounts = self.accounts - frozenset(_accounts(tree))
        now = _seats(tree) if self._seated else {}
        moved = (
            disk.rpartition("/")[2]
            for instance, disks in self._seated.items()
            if sorted(disks) == sorted(now.get(instance, ()))
            for disk, other in zip(disks, now[instance], strict=True)
            if disk != other
        )
        return Life(self.volumes | gone | frozenset(moved), self.everything, self.unlisted, accounts, self.cheaper)


def life_of(tree: Any, strike: Strike, path: Path, chosen: Sequence[Place]) -> Life | None:
    """What of a fault is like life, before it is carried out; None where nothing is."""
    if strike.fault == "zero" and path[:1] == _SERIES and strike.all_items and strike.often == ALWAYS:
        return Life(everything=True, cheaper=True)
    if path[0] in _OF_A_CHANGE and strike.fault in _TAKES_AWAY | {_SAME_ID}:
        return Life(frozenset(_ids(tree, "volumeModificationSet")), cheaper=True)
    if path[0] == "volumeSet" and path[-1] in _OF_A_VOLUME and strike.fault == _IN_XML_EMPTY:
        return Life(frozenset(_owners(tree, chosen)))
    if path[0] == "volumeSet" and path[-len(_TAG_VALUE) :] == _TAG_VALUE and strike.fault in _OTHER_TEXT:
        return Life(frozenset(_owners(tree, chosen)))
    if path[-len(_SEATED) :] == _SEATED and strike.fault == _SAME_ID:
        return Life(_seated=_seats(tree))
    if strike.fault not in _TAKES_AWAY and not (strike.fault == "null" and path[0] in _NULL_IS_ABSENT):
        return None
    if path[0] in _ABOVE:
        return Life(unlisted=True)
    if path[0] in _ACCOUNTS and len(path) == 1:
        return Life(accounts=frozenset(_accounts(tree)))
    if path in _LISTED:
        return Life(_before=frozenset(_ids(tree)))
    if path[0] == "volumeSet" and set(path) & set(_OF_A_VOLUME):
        return Life(frozenset(_owners(tree, chosen)) or frozenset(_ids(tree)))
    return None


def _seats(tree: Any) -> dict[str, list[str]]:
    """The disks of each instance of Compute Engine's list, in its order."""
    instances = [at[key] for scope in tree["items"] for at, key in places_of(tree, ("items", scope, "instances", "*"))]
    return {one["id"]: [disk["source"] for disk in one.get("disks", ())] for one in instances}


def _ids(tree: Any, listed: str = "volumeSet") -> Iterator[str]:
    for at, key in places_of(tree, (listed, "*", "volumeId")) if isinstance(tree, dict) else []:
        if isinstance(at[key], str):
            yield at[key]


def _accounts(tree: Any) -> Iterator[str]:
    """The accounts or projects of a list."""
    for listed, name in _ACCOUNTS.items():
        for at, key in places_of(tree, (listed, "*", name)):
            yield at[key]


def _owners(tree: Any, chosen: Sequence[Place]) -> Iterator[str]:
    """The volumes that hold the chosen places."""
    held = {id(at) for at, _ in chosen}
    for at, key in places_of(tree, ("volumeSet", "*")):
        volume = at[key]
        if isinstance(volume, dict) and held & set(_all_within(volume)):
            yield volume.get("volumeId", "")


def _all_within(value: Any) -> Iterator[int]:
    yield id(value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        if isinstance(one, dict | list):
            yield from _all_within(one)
