"""Runs on disk and the pages that are written of them, read back as a browser would."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from plimsoll.policy_file import dump_policy
from plimsoll.reports.files import RunFolder
from plimsoll.reports.html.page import write_html
from plimsoll.reports.record import RecommendationRecord, StripeSetRecord
from plimsoll.reports.tally import Tally
from tests.builders import a_policy
from tests.unit.reports.recommendations import a_profile, a_record

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe\u202c \u200f",
    "line one\nline two\r\ttabbed",
    "🚢 volume & friends &amp; &lt;b&gt;",
    "{{ 7 * 7 }} {% raw %} ${1+1}",
    "x" * 4096,
)
"""Names that anybody may give by a tag."""


GAPPY = (100.0, 110.0, None, 130.0, 140.0, *(100.0, 110.0, 120.0, 130.0, 140.0) * 4)
"""Demand over time with a gap in its third span."""


def a_fleet(count: int) -> list[RecommendationRecord]:
    """Volumes of every action in turn, in several accounts."""
    actions = ("migrate", "reprovision", "upgrade", "keep", "detached", "insufficient-data")
    return [
        a_record(
            actions[number % len(actions)],
            change=f"change number {number}",
            volume_id=f"vol-{number:017x}",
            name=f"name-{number}",
            account=f"{111111111111 * (1 + number % 3)}",
        )
        for number in range(count)
    ]


def special_records() -> dict[str, list[RecommendationRecord]]:
    """What a run may hold at its edges, by name."""
    whole = a_record("migrate")
    stripes = StripeSetRecord(
        name="md0",
        level="raid0",
        host="i-1",
        mounts=["/data"],
        members=[whole.volume_id, "vol-other"],
        held_back_by={"vol-other": "its change is in progress"},
        monthly_usd_now=100.0,
        monthly_usd_then=80.0,
        monthly_usd_saved=20.0,
    )
    return {
        "empty": [],
        "one": [whole],
        "keeps": [a_record("keep", volume_id=f"vol-{number}") for number in range(3)],
        "no prices": [
            a_record("insufficient-data", volume_id=f"vol-{number}", monthly_usd_now=None, monthly_usd_then=None)
            for number in range(2)
        ],
        "some prices": [whole, a_record("insufficient-data", volume_id="vol-unpriced", monthly_usd_now=None)],
        "old": [whole.model_copy(update={"ceilings": None})],
        "stripes": [whole.model_copy(update={"stripe_set": stripes})],
        "dear upgrade": [a_record("upgrade", monthly_usd_saved=-99.5, monthly_usd_saved_at_parity=0.0)],
        "hostile": [a_record(name=name, volume_id=f"vol-{number}") for number, name in enumerate(HOSTILE)],
    }


def a_run(folder: Path, records: Iterable[RecommendationRecord], *, profiles: bool = True, **changes: Any) -> Path:
    """A run's folder with these recommendations; `changes` replace keys of its run.json."""
    tally = Tally()
    with RunFolder(folder) as run:
        for record in records:
            tally.count(record)
            tally.seen += 1
            run.add(record, a_profile(GAPPY, of=record, length_s=7200) if profiles and record.demand else None)
        run.describe({**_described(folder, tally), **changes})
    return folder


def _described(folder: Path, tally: Tally) -> dict[str, Any]:
    return {
        "id": folder.name,
        "status": "complete",
        "now": "2026-11-21T12:00:00+00:00",
        "scope": {},
        "policy": dump_policy(a_policy()),
        "every_minute": False,
        "versions": {"plimsoll": "0.1.0"},
        **tally.summary(),
        "prices": {"111111111111/us-east-1": {"source": "a price list", "as_of": "2026-11-20"}},
        "plan": {"most_datapoints": 1000},
        "usage": {"calls": 1, "metrics": 4, "datapoints": 40, "estimated_usd": 0.0001},
        "seconds": {"elapsed": 1.0},
    }


def link_of(record: RecommendationRecord) -> str:
    return f"https://console.example/{record.volume_id}"


def written(folder: Path, **options: Any) -> Path:
    """The report of a run's folder."""
    out = folder / "report.html"
    write_html(folder, out, **{"envelopes": {}, "console_link": link_of, **options})
    return out


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is before any script runs: its text, its elements, and what its blocks hold."""

    source: str
    text: str
    elements: Sequence[tuple[str, Mapping[str, str | None]]]
    rows: Sequence[Mapping[str, list[Any]]]
    details: Sequence[list[dict[str, Any]]]

    @property
    def volume_ids(self) -> list[str]:
        return [one for block in self.rows for one in block["id"]]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.packed: dict[str, list[str]] = {"rows": [], "details": []}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append(dict(attrs).get("class") or tag if tag in {"script", "style"} else "")

    def handle_endtag(self, tag: str) -> None:
        self.inside.append("")

    def handle_data(self, data: str) -> None:
        where = self.inside[-1] if self.inside else ""
        if where in self.packed:
            self.packed[where].append(data)
        elif not where:
            self.texts.append(data)


def read_page(path: Path) -> Page:
    """A report as it is on disk."""
    reader = _Reader()
    source = path.read_text(encoding="utf-8")
    reader.feed(source)
    unpacked = {
        key: [json.loads(gzip.decompress(base64.b64decode(one))) for one in found]
        for key, found in reader.packed.items()
    }
    return Page(
        source=source,
        text=" ".join(" ".join(reader.texts).split()),
        elements=reader.elements,
        rows=unpacked["rows"],
        details=unpacked["details"],
    )
