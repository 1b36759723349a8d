"""Measurements and learned tables, as the service keeps them under `measured/` of the store.

A campaign and a verdict are each an object of their own that never changes, so that many validations may end at once.
On a machine they are a folder as `plimsoll validate` writes it: campaign files, and `validations.jsonl` in the order of
time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plimsoll.clouds.validation_book import VALIDATIONS_FILE, ValidationLine
from plimsoll.files import write_lines
from plimsoll.jobs.document import StoredDocument
from plimsoll.ports import RunStore

MEASURED_PREFIX: Final = "measured/"
VERDICTS_PREFIX: Final = "measured/validations/"
STRIPES_KEY: Final = "measured/stripes.json"
LEARNED_KEY: Final = "measured/learned.json"
LEARNED_HERE_KEY: Final = "measured/learned-here.json"
_CHANGING: Final = (STRIPES_KEY, LEARNED_KEY, LEARNED_HERE_KEY)
"""The book of stripe sets, what `plimsoll learn` wrote, where somebody has put one, and what the service has learned by
itself: they are brought each time."""


def bring_measurements(store: RunStore, folder: Path) -> None:
    """Makes a folder hold the measurements of the store. Files it has already are not brought again.

    Files that the store has no longer are removed. Raises CloudError, or BadInput for a damaged verdict.
    """
    wanted = {key: folder / key.removeprefix(MEASURED_PREFIX) for key in store.keys(MEASURED_PREFIX) if _is_ours(key)}
    for key, path in wanted.items():
        if key in _CHANGING or not path.exists():
            store.get_file(key, path)
    changing = (folder / key.removeprefix(MEASURED_PREFIX) for key in _CHANGING)
    for path in (*folder.glob("*.yaml"), *(folder / "validations").glob("*.jsonl"), *changing):
        if path not in wanted.values():
            path.unlink(missing_ok=True)
    contents = ((str(path), path.read_bytes()) for path in sorted((folder / "validations").glob("*.jsonl")))
    write_lines((f"{line.model_dump_json()}\n" for line in _sort_lines(contents)), folder / VALIDATIONS_FILE, "utf-8")


@dataclass(frozen=True, slots=True)
class StoreVerdicts:
    """Verdicts and their campaigns in a store."""

    store: RunStore

    def lines(self) -> list[ValidationLine]:
        """Every verdict, oldest first. Raises BadInput for a damaged one."""
        contents = ((key, self.store.get(key)) for key in self.store.keys(VERDICTS_PREFIX))
        return _sort_lines((key, kept) for key, kept in contents if kept is not None)

    def keep(self, campaign: Path, line: ValidationLine) -> None:
        """Keeps a verdict and the file of its campaign; doing it again changes nothing.

        The verdict comes last: if it is there, so is its evidence.
        """
        self.store.put_file(f"{MEASURED_PREFIX}{line.campaign}.yaml", campaign)
        self.store.put(f"{VERDICTS_PREFIX}{line.id}.jsonl", f"{line.model_dump_json()}\n".encode())


def _is_ours(key: str) -> bool:
    is_campaign = key.endswith(".yaml") and "/" not in key.removeprefix(MEASURED_PREFIX)
    return key in _CHANGING or (key.startswith(VERDICTS_PREFIX) and key.endswith(".jsonl")) or is_campaign


def _sort_lines(contents: Iterable[tuple[str, bytes]]) -> list[ValidationLine]:
    lines = (_document(where).parse(content) for where, content in contents)
    return sorted(lines, key=lambda line: (line.at, line.id))


def _document(key: str) -> StoredDocument[ValidationLine]:
    return StoredDocument(key, ValidationLine, "verdict", "remove it from the store")
