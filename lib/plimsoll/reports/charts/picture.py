"""A picture: what a chart says and the figures that it shows, apart from how it is drawn."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from plimsoll.reports.record import DemandProfileRecord

PictureKind = Literal["demand", "roofline", "comparison", "savings"]
Row = dict[str, Any]

CEILINGS: Final = {"now": "now", "offered": "offered", "hosts": "host"}
"""The ceilings of a record, each with its word in a picture."""

SPANS: Final = "spans"
"""Name of the dataset that is the demand over time; it is the same for each picture of a volume."""

AXIS_PX: Final = 56
"""What the labels of an upright axis take at most."""

_OF_THE_VOLUME: Final = {"account", "region", "volume_id", "start_s"}
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart's words about its subject.

    `title` is what to see, `subtitle` how to read it, `subject` whose picture it is, for where nothing else says so.
    `datasets` are the rows of each named dataset of the chart's spec but `spans`, which `span_rows` makes.
    """

    kind: PictureKind
    subject: str
    title: str
    subtitle: str
    datasets: Mapping[str, list[Row]]


def span_rows(profile: DemandProfileRecord | None) -> list[Row]:
    """The rows of `spans`: one a span, with the profile's names, and `start` and `end` in epoch milliseconds.

    Where nothing was observed rates are None: a gap in the line, never zero.
    """
    if profile is None:
        return []
    lists = {name: getattr(profile, name) for name in type(profile).model_fields if name not in _OF_THE_VOLUME}
    rows: list[Row] = []
    start_s = profile.start_s
    for place, length_s in enumerate(profile.length_s):
        row = {name: values[place] for name, values in lists.items()}
        rows.append({"start": start_s * 1000, "end": (start_s + length_s) * 1000, **row})
        start_s += length_s
    return rows


def picture_name(name: str) -> str:
    """A name that anybody may have given, cut to one line of a picture. What cannot be shown becomes a space."""
    shown = "".join(letter if letter.isprintable() else " " for letter in name)
    return textwrap.shorten(shown, _LONGEST_NAME, placeholder="…") if len(shown) > _LONGEST_NAME else shown
