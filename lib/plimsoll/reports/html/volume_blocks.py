"""The volumes in the page: blocks of about a hundred, compressed, that the reader's browser opens when it needs them.

Each block has two texts, both JSON under gzip and base64, which cannot end the script element that holds them: `rows`,
what the table shows, a list a column; and `details`, a list of what the drill-downs show, in the same order.

A demand profile in little room: what pictures are drawn of is most of the page, and needs no more than three digits.

Each rate becomes a whole number of steps, half a percent each, above the least one: 0 is no rate at all, and None one
that is not known. What is close to another series is written as the difference to it, and the first as the difference
to the span before. Such numbers are small and repeat, so that gzip makes a third of what it makes of the rates.
"""

import gzip
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Final

import numpy as np
from pydantic_core import to_json

from plimsoll.model.arrays import FloatArray
from plimsoll.model.envelope import Envelope
from plimsoll.model.kinds import CHANGES
from plimsoll.reports.change_files import change_note
from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.roofline import roofline_picture
from plimsoll.reports.printable import printable_json
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord, SpanRates
from plimsoll.reports.run_reader import Matched
from plimsoll.reports.steps import step_of
from plimsoll.reports.templates import template_name
from plimsoll.reports.wording import losses_in_words, owner_text, risk_level, risk_pct, spec_text, words_of

_STEP: Final = 1.005
_LEAST: Final = 1e-4
"""Operations or MiB in a second below which a rate is the least one."""

_BESIDE: Final = {
    "iops": None,
    "peak_iops": "iops",
    "read_iops": "iops",
    "throughput_mib_s": "iops",
    "read_throughput_mib_s": "read_iops",
    "peak_throughput_mib_s": "peak_iops",
    "most_ops_iops": "peak_iops",
    "most_ops_throughput_mib_s": "peak_throughput_mib_s",
    "most_moved_iops": "peak_iops",
    "most_moved_throughput_mib_s": "peak_throughput_mib_s",
}
"""Each series of rates, and the one before it that it is written beside."""

_NOT_HERE: Final = {"account", "region", "volume_id"}

HOW: Final = {"step": _STEP, "least": _LEAST, "beside": _BESIDE}
"""What the page needs to read them again."""


def shrink_profile(profile: DemandProfileRecord) -> dict[str, Any]:
    """A profile without its volume, its rates as steps."""
    steps = {name: _steps(getattr(profile, name)) for name in _BESIDE}
    fields = profile.model_dump(exclude={*_NOT_HERE, *_BESIDE})
    for name, other in _BESIDE.items():
        present = steps[name]
        beside = _previous_steps(present) if other is None else np.nan_to_num(steps[other])
        fields[name] = _round_steps(present - beside)
    return fields


def _round_steps(steps: FloatArray) -> list[int | None]:
    """The steps as whole numbers, None where one is not known."""
    unknown = np.isnan(steps)
    whole: list[int | None] = np.where(unknown, 0.0, steps).astype(np.int64).tolist()
    for place in np.flatnonzero(unknown).tolist():
        whole[place] = None
    return whole


def _steps(rates: SpanRates) -> FloatArray:
    figures = np.asarray(rates, dtype=float)
    above = np.rint(np.log(np.maximum(figures, _LEAST) / _LEAST) / np.log(_STEP)) + 1
    return np.asarray(np.where(figures <= 0, 0.0, above), dtype=float)


def _previous_steps(steps: FloatArray) -> FloatArray:
    """The last known step before each span; 0 before the first."""
    known = np.nan_to_num(np.concatenate(([0.0], steps[:-1])))
    places = np.where(np.concatenate(([True], ~np.isnan(steps[:-1]))), np.arange(len(steps)), 0)
    return np.asarray(known[np.maximum.accumulate(places)], dtype=float)


SIZE: Final = 100
_LEVEL: Final = 6
"""Of gzip: an eighth smaller than at 4."""

_ELEMENT: Final = '<script type="application/octet-stream" class="{}">{}</script>\n'


def to_base64(content: bytes) -> str:
    """Some content as base64 of gzip, always the same for the same content."""
    return b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode("ascii")


def blocks(
    volumes: Iterable[Matched], envelopes: Mapping[str, Envelope], console_link: Callable[[RecommendationRecord], str]
) -> Iterator[str]:
    """The script elements of every volume in exactly one block, in their order, a block's on two lines; no more than
    two blocks are held at a time.

    One block is compressed while the next one is read.
    """
    remaining = iter(volumes)
    before: Future[str] | None = None
    with ThreadPoolExecutor(max_workers=1) as packer:
        while chunk := list(islice(remaining, SIZE)):
            rows = [_row(record) for record, _ in chunk]
            columns = _json({key: [row[key] for row in rows] for key in rows[0]})
            details = _json([_detail(row, _pictures_of(row, envelopes), console_link(row[0])) for row in chunk])
            if before is not None:
                yield before.result()
            before = packer.submit(_block, columns, details)
        if before is not None:
            yield before.result()


def _json(value: object) -> bytes:
    return printable_json(to_json(value).decode()).encode()


def _row(record: RecommendationRecord) -> dict[str, Any]:
    """The table's row of a volume, with the keys of its filters and its search."""
    return {
        "id": record.volume_id,
        "name": record.name,
        "cloud": words_of(record.provider).cloud,
        "account": record.account,
        "region": record.region,
        "zone": record.zone,
        "host": " ".join(record.hosts),
        "created": record.created and record.created[:10],
        "owner": owner_text(record.owner),
        "type": record.current.type,
        "from": spec_text(record.current),
        "to": _becomes(record),
        "now": record.monthly_usd_now,
        "saved": None if record.monthly_usd_now is None else record.monthly_usd_saved,
        "drop_in": record.monthly_usd_saved_drop_in,
        "counts_as": record.kind.money,
        "risk": risk_pct(record),
        "risk_level": risk_level(record),
        "losses": [loss.code for loss in record.losses] or (["none"] if record.action in CHANGES else []),
        "grade": record.evidence.grade if record.evidence else None,
        "step": str(step_of(record)),
        "blockers": ", ".join(blocker.code for blocker in record.blockers),
        "change": record.change,
        "way_back": record.way_back,
        "note": change_note(record) if record.change else "",
        "provider": record.provider,
        "tool": record.owner.kind,
        "template": template_name(record),
        "tags": [f"{key}={value}" for key, value in record.tags.items()],
    }


def _becomes(record: RecommendationRecord) -> str | None:
    """The volume's next configuration, or the one left out for its risk; None if it stays as it is."""
    if record.target not in {None, record.current}:
        return spec_text(record.target)
    return None if record.too_risky is None else f"not recommended: {spec_text(record.too_risky.spec)}"


def _block(columns: bytes, details: bytes) -> str:
    return _ELEMENT.format("rows", to_base64(columns)) + _ELEMENT.format("details", to_base64(details))


def _detail(volume: Matched, pictures: dict[str, Any], link: str) -> dict[str, Any]:
    record, profile = volume
    words = words_of(record.provider)
    return {
        "record": record.model_dump(mode="json", exclude={"change", "way_back"}),
        "profile": None if profile is None else shrink_profile(profile),
        "pictures": pictures,
        "losses": losses_in_words(record),
        "link": link,
        "account": words.account,
        "seen": {"in": words.monitoring, "as": words.shown},
    }


def _pictures_of(volume: Matched, envelopes: Mapping[str, Envelope]) -> dict[str, Any]:
    """A volume's pictures by kind, without the spans, which all of them share; none where there is no profile."""
    record, profile = volume
    if profile is None:
        return {}
    pictures = [demand_picture(record, profile)]
    if record.ceilings is not None:
        envelope = envelopes.get(record.evidence.envelope or "") if record.evidence else None
        pictures.append(roofline_picture(record, profile, envelope))
    return {
        picture.kind: {"title": picture.title, "subtitle": picture.subtitle, "datasets": picture.datasets}
        for picture in pictures
    }
