"""The volumes in the page: blocks of about a hundred, compressed, that the reader's browser opens when it needs them.

Each block has two texts, both JSON under gzip and base64, which cannot end the script element that holds them: `rows`,
what the table shows, a list a column; and `details`, a list of what the drill-downs show, in the same order.
"""

import gzip
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic_core import to_json

from plimsoll.reports.html.matched import Matched
from plimsoll.reports.html.wording import owner_text
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import step_of
from plimsoll.reports.terminal import spec_text

SIZE: Final = 100
_LEVEL: Final = 6

Pictures = Callable[[Matched], dict[str, Any]]
"""The pictures of a volume by their kind: title, subtitle and datasets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some volumes, packed for the page."""

    rows: str
    details: str


def packed(value: Any) -> str:
    """Any JSON value or text as base64 of gzip, always the same for the same value."""
    content = value.encode() if isinstance(value, str) else to_json(value)
    return b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode("ascii")


def blocks(
    volumes: Iterable[Matched], *, pictures: Pictures, console_link: Callable[[RecommendationRecord], str]
) -> Iterator[Block]:
    """Every volume in exactly one block, in their order; no more than one block is held at a time."""
    remaining = iter(volumes)
    while some := list(islice(remaining, SIZE)):
        rows = [row(record) for record, _ in some]
        yield Block(
            rows=packed({key: [one[key] for one in rows] for key in rows[0]}),
            details=packed([_detail(one, pictures(one), console_link(one[0])) for one in some]),
        )


def row(record: RecommendationRecord) -> dict[str, Any]:
    """What the table shows of a volume, and what it is filtered and found by."""
    return {
        "id": record.volume_id,
        "name": record.name,
        "account": record.account,
        "region": record.region,
        "zone": record.zone,
        "hosts": " ".join(record.hosts),
        "owner": owner_text(record.owner),
        "type": record.current.type,
        "from": spec_text(record.current),
        "to": None if record.target in {None, record.current} else spec_text(record.target),
        "now": record.monthly_usd_now,
        "saved": None if record.monthly_usd_now is None else record.monthly_usd_saved,
        "parity": record.monthly_usd_saved_at_parity,
        "grade": record.evidence.grade if record.evidence else None,
        "step": str(step_of(record)),
        "blockers": ", ".join(blocker.code for blocker in record.blockers),
        "change": record.change,
    }


def _detail(volume: Matched, pictures: dict[str, Any], link: str) -> dict[str, Any]:
    record, profile = volume
    return {
        "record": record.model_dump(mode="json", exclude={"change"}),
        "profile": None if profile is None else profile.model_dump(exclude={"account", "region", "volume_id"}),
        "pictures": pictures,
        "link": link,
    }
