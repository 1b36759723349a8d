"""Volumes by what people call them: an id, account/region/id, a Name tag as tables show it, or how an id begins."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from plimsoll.model.errors import BadInput

MOST_LISTED: Final = 10
CUT: Final = "…"
"""The end of a name that a table cut."""

SearchedVolume = TypeVar("SearchedVolume")


class NamedVolume(NamedTuple):
    """A volume's place and id, and its Name tag if it has one."""

    account: str
    region: str
    id: str
    name: str | None = None

    @property
    def full(self) -> str:
        """The unambiguous name: account/region/id."""
        return f"{self.account}/{self.region}/{self.id}"

    def __str__(self) -> str:
        return f"{self.full} ({_flatten(self.name)})" if self.name else self.full

    def fit_of(self, word: str) -> str:
        """The way in which a word names the volume, a key of FITS; empty if it does not."""
        name, wanted = _flatten(self.name or ""), _flatten(word)
        if wanted in {self.id, self.full}:
            return "id"
        cut = wanted.removesuffix(CUT)
        if name and cut and (wanted == name or (wanted != cut and name.startswith(cut))):
            return "name"
        return "beginning" if wanted and self.id.startswith(wanted) else ""


FITS: Final = {"id": "is the id of", "name": "is the name of", "beginning": "is how the ids begin of"}
"""The ways in which a word names volumes, the surest first. A less sure one counts only where no surer one does."""


class NameSearch(Generic[SearchedVolume]):
    """The volumes that a word may mean, of those that are seen one by one."""

    def __init__(self, word: str) -> None:
        self.word = word
        self._volumes: dict[str, list[tuple[NamedVolume, SearchedVolume]]] = {fit: [] for fit in FITS}
        self._counts = Counter[str]()

    def see(self, name: NamedVolume, volume: SearchedVolume) -> None:
        """Takes note of a volume that the word names."""
        fit = name.fit_of(self.word)
        if fit:
            self._counts[fit] += 1
            if len(self._volumes[fit]) < MOST_LISTED:
                self._volumes[fit].append((name, volume))

    @property
    def is_exact(self) -> bool:
        """True if the word is an id, so that no name has to be looked for."""
        return bool(self._counts["id"])

    def choose(self) -> SearchedVolume | None:
        """The one volume that is meant, None if there is none. BadInput lists several."""
        fit = next((fit for fit in FITS if self._counts[fit]), None)
        if fit is None:
            return None
        if self._counts[fit] > 1:
            shown = [str(name) for name, _ in self._volumes[fit]]
            others = self._counts[fit] - len(shown)
            listed = f"{', '.join(shown)} or one of {others:,} others" if others else " or ".join(shown)
            raise BadInput(f"{self.word} {FITS[fit]} {self._counts[fit]:,} volumes: give {listed}.")
        return self._volumes[fit][0][1]


def choose_volume(word: str, volumes: Iterable[tuple[NamedVolume, SearchedVolume]]) -> SearchedVolume | None:
    """The volume that a word means, None if there is none. BadInput lists several that it may mean."""
    search = NameSearch[SearchedVolume](word)
    for name, volume in volumes:
        search.see(name, volume)
    return search.choose()


def nearest_hint(word: str, volumes: Iterable[NamedVolume]) -> str:
    """A question after the volume whose id or Name tag is nearest to a word; empty if none is near."""
    known = {text.casefold(): (text, volume) for volume in volumes for text in (volume.id, volume.name) if text}
    near = difflib.get_close_matches(word.rpartition("/")[2].casefold(), known, n=1, cutoff=0.4)
    if not near:
        return ""
    text, volume = known[near[0]]
    return f"did you mean {text}?" if text == volume.id else f"did you mean {text} ({volume.id})?"


def _flatten(text: str | None) -> str:
    return " ".join((text or "").split())
