"""Volumes by what people call them: an id, account/region/id, a Name tag as tables show it, or how an id begins."""

import difflib
import re
from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, TypeVar

from plimsoll.model.errors import BadInput

MOST_LISTED: Final = 10
CUT: Final = "…"
"""The end of a name that a table cut."""

_NEAR: Final = 0.8
"""The likeness, of 1, from which an id or a name is offered in place of one that is unknown."""

_MOST_QUOTED: Final = 80
"""The most characters of an unknown word that a sentence repeats."""

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

    def has_id(self, word: str) -> bool:
        """True if the word is the volume's id, alone or with its place."""
        return _flatten(word) in {self.id, self.full}

    def may_be(self, word: str) -> bool:
        """True if the word is the volume's name, whole or as a table cut it, or how its id begins; also with its place.

        A name in the shape of an id, as of the volume that this one was restored from, is nobody's name.
        """
        whole, name = _flatten(word), _flatten(self.name)
        here = whole.removeprefix(f"{self.account}/{self.region}/")
        if here in {"", CUT}:
            return False
        is_named = name in {whole, here} or (here.endswith(CUT) and name.startswith((whole[:-1], here[:-1])))
        return self.id.startswith(here) or (is_named and _shape(name) != _shape(self.id))


class NameSearch(Generic[SearchedVolume]):
    """The volumes that a word may mean, of those that are seen one by one."""

    def __init__(self, word: str) -> None:
        self.word = word
        self._of_id: list[tuple[NamedVolume, SearchedVolume]] = []
        self._possible: list[tuple[NamedVolume, SearchedVolume]] = []
        self._count = 0

    def see(self, name: NamedVolume, volume: SearchedVolume) -> None:
        """Takes note of a volume that the word may mean."""
        if name.has_id(self.word):
            self._of_id.append((name, volume))
        elif name.may_be(self.word):
            self._count += 1
            if len(self._possible) < MOST_LISTED:
                self._possible.append((name, volume))

    @property
    def is_exact(self) -> bool:
        """True if the word is an id, so that no name has to be looked for."""
        return bool(self._of_id)

    def choose(self) -> SearchedVolume | None:
        """The one volume that is meant, None if there is none. BadInput lists several."""
        possible = self._of_id or self._possible
        count = len(self._of_id) or self._count
        if count > 1:
            shown = [str(name) for name, _ in possible[:MOST_LISTED]]
            others = count - len(shown)
            listed = f"{', '.join(shown)} or one of {others:,} others" if others else " or ".join(shown)
            raise BadInput(f"{quote_word(self.word)} may be {count:,} volumes: give {listed}.")
        return possible[0][1] if possible else None


def choose_volume(word: str, volumes: Iterable[tuple[NamedVolume, SearchedVolume]]) -> SearchedVolume | None:
    """The volume that a word means, None if there is none. BadInput lists several that it may mean."""
    search = NameSearch[SearchedVolume](word)
    for name, volume in volumes:
        search.see(name, volume)
    return search.choose()


def nearest_hint(word: str, volumes: Iterable[NamedVolume]) -> str:
    """A question after the volume whose id or Name tag is nearest to a word; empty if none is near.

    The volumes are seen one by one, so that none is kept but the nearest.
    """
    place, _, last = word.rpartition("/")
    matcher = difflib.SequenceMatcher(b=last.casefold())
    near, nearest = "", (_NEAR, "")
    for volume in volumes:
        for text in (volume.id, volume.name) if place in {"", f"{volume.account}/{volume.region}"} else ():
            matcher.set_seq1((text or "").casefold())
            # The quick ratios are never less than the ratio.
            if matcher.real_quick_ratio() < nearest[0] or matcher.quick_ratio() < nearest[0]:
                continue
            likeness = (matcher.ratio(), text or "")
            if text and likeness >= nearest:
                nearest = likeness
                near = text if text == volume.id else f"{_flatten(text)} ({volume.id})"
    return near and f"did you mean {near}?"


def quote_word(word: str) -> str:
    """The word as a sentence repeats it: on one line, and cut; `""` for none."""
    flat = _flatten(word)
    return '""' if not flat else flat if len(flat) <= _MOST_QUOTED else f"{flat[:_MOST_QUOTED]}{CUT}"


def _flatten(text: str | None) -> str:
    return " ".join((text or "").split())


def _shape(text: str) -> str:
    """The text with 0 for each hex digit: ids of one cloud are alike in it."""
    return re.sub(r"[0-9a-f]", "0", text)
