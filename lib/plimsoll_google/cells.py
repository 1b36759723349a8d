"""Cells: the places for the points of many series, one cell for each series of each look."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.volume import Volume
from plimsoll.reading.known import Ask, Found, Look, find_only_place
from plimsoll_google.queries import ALL_METRICS, SERIES_METRICS, DevicePlace, SeriesQuery, grid_s, places_of


@dataclass(slots=True, kw_only=True)
class Cell:
    """One series of one look while its points arrive, in any order and from any number of series.

    It has buckets of `grid_s`, of which the look's are a multiple. Points of one bucket are `added` up, or else the
    highest stands. Buckets of the grid become those of the look by their `highest`, or else by their sum.
    """

    look: Look
    grid_s: int
    added: bool
    highest: bool
    _places: dict[DevicePlace, BoolArray] = field(default_factory=dict, init=False)
    _values: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Begins with no point."""
        self._values = np.full(self.look.window.buckets(self.look.period_s) * self.look.period_s // self.grid_s, np.nan)

    def place(self, where: DevicePlace, ends_s: IntArray, values: FloatArray, inside: BoolArray) -> None:
        """Takes in those points of a series that are `inside`."""
        present = self._places.setdefault(where, np.zeros(self.look.window.buckets(self.look.period_s), dtype=np.bool_))
        present[(ends_s[inside] - 1 - self.look.window.start_s) // self.look.period_s] = True
        at = (ends_s[inside] - 1 - self.look.window.start_s) // self.grid_s
        if self.added:
            self._values[at[np.isnan(self._values[at])]] = 0.0
            np.add.at(self._values, at, values[inside])
        else:
            np.fmax.at(self._values, at, values[inside])

    @property
    def places(self) -> Mapping[DevicePlace, BoolArray]:
        """The buckets of the look in which each place has points."""
        return self._places

    def fold(self) -> FloatArray:
        """The buckets of the look, NaN where there is no point."""
        factor = self.look.period_s // self.grid_s
        if factor == 1:
            return self._values
        buckets = self._values.reshape(-1, factor)
        values = np.fmax.reduce(buckets, axis=1) if self.highest else np.nansum(buckets, axis=1)
        return np.where(np.isnan(buckets).all(axis=1), np.nan, values)


class Cells:
    """The cells of all asks at one project and region.

    `places` has the volume id of the disk at each place now. `volumes` are those whose places are known, with those of
    the asks.
    """

    def __init__(self, asks: Sequence[Ask], volumes: Iterable[Volume] = ()) -> None:
        self.project, region = find_only_place(asks)
        self.place = f"{self.project}/{region}"
        self.places = places_of((*volumes, *(ask.volume for ask in asks)))
        self._asks = asks
        self._cells = {
            (number, series): _cell(ask, series)
            for number, ask in enumerate(asks)
            for series in ask.look.series
            if series in ALL_METRICS
        }

    def is_of(self, number: int, where: DevicePlace) -> bool:
        """True if an ask's disk is at a known place."""
        return self.places[where] == self._asks[number].volume.id

    def of(self, query: SeriesQuery) -> Cell:
        """The cell for the points of a query."""
        return self._cells[query.ask, query.series]

    def answer_of(self, number: int) -> Found:
        """The answer to an ask."""
        series = self._asks[number].look.series
        return {name: self._cells[number, name].fold() for name in series if name in ALL_METRICS}

    def places_of(self, number: int) -> dict[str, Mapping[DevicePlace, BoolArray]]:
        """The buckets in which each place has points, by the series of an ask."""
        series = (name for name in self._asks[number].look.series if name in SERIES_METRICS)
        return {name: self._cells[number, name].places for name in series}


def _cell(ask: Ask, series: str) -> Cell:
    """Counts are added up; so are peaks of a disk on several instances, and else the highest stands."""
    peak = ALL_METRICS[series].peak
    return Cell(
        look=ask.look,
        grid_s=grid_s(ask, series),
        added=not peak or (series in SERIES_METRICS and len(ask.volume.attachments) > 1),
        highest=peak,
    )
