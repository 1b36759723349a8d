"""The pages that are written of runs, read back as a browser would."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from plimsoll.reports.html.page import write_html
from plimsoll.reports.record import RecommendationRecord


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
