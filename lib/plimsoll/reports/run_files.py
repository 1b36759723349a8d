"""The files of a run's folder, by what they hold.

Checksums: what the files of a run's answers were when they were written, so that a changed one is named.

They stand beside the files, in checksums.json. The folders of earlier versions have none: their files are read as they
are.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from plimsoll.files import atomic_path, open_file, parse_json, read_bytes
from plimsoll.model.errors import BadInput

RECOMMENDATIONS: Final = "recommendations.json"
TABLE: Final = "recommendations.csv"
DEMAND: Final = "demand.jsonl"
PARQUET_FILES: Final = ("recommendations.parquet", "demand.parquet")
UNANSWERED: Final = "unanswered.jsonl"
RUN: Final = "run.json"
CHECKSUMS: Final = "checksums.json"
PAGE: Final = "report.html"
MARKDOWN: Final = "report.md"
PROMETHEUS_FILE: Final = "plimsoll.prom"
SLACK_PREVIEW: Final = "slack-preview.html"
FOCUS: Final = "focus-recommendations.csv"
TICKETS: Final = "tickets.csv"
STATES_FILE: Final = "states.json"
STATES_TABLE: Final = "states.csv"


_LOOKS: Final = 3
"""How often a file and its checksum are compared: a process may be writing both."""


def note_checksums(folder: Path, names: Iterable[str]) -> None:
    """Notes what files are now, beside what was noted of others."""
    written = {**(_noted_checksums(folder) or {}), **{name: _digest(folder / name) for name in names}}
    with atomic_path(folder / CHECKSUMS) as beside:
        beside.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def check_export(path: Path) -> None:
    """BadInput if a file in a run's folder is not what a report wrote there; of files elsewhere nothing is known."""
    if (path.parent / RUN).exists() and path.name in (_noted_checksums(path.parent) or {}) and not is_as_written(path):
        raise BadInput(
            f"{path} is damaged, or {CHECKSUMS} beside it is: its checksum does not fit. Write it anew with "
            "`plimsoll report --format parquet`."
        )


def is_as_written(path: Path, instead: bytes | None = None) -> bool:
    """True if a file is as it was written, or if nothing was noted of it. OSError if it is no file.

    `instead` is what it would be if it had kept its layout.
    """
    for _ in range(_LOOKS):
        noted = _noted_checksums(path.parent)
        if noted is None or path.name not in noted:
            return noted is not None or not (path.parent / CHECKSUMS).exists()
        seen = path.stat()
        if instead is None:
            digest = _digest_at(path, seen.st_mtime_ns, seen.st_size, seen.st_ino)
        else:
            digest = hashlib.sha256(instead).hexdigest()
        if digest == noted[path.name]:
            return True
    return False


def _noted_checksums(folder: Path) -> dict[str, Any] | None:
    """The noted checksums of a folder's files; None if there are none, or they cannot be read."""
    try:
        checksums = parse_json(read_bytes(folder / CHECKSUMS))
    except (OSError, ValueError):
        return None
    return checksums if isinstance(checksums, dict) else None


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=64)
def _digest_at(path: Path, _changed_ns: int, _size: int, _inode: int) -> str:
    """The digest of a file that has not changed since: a page of `serve` asks for the same again and again."""
    return _digest(path)
