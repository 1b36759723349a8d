"""The learned table as a file: small JSON that people can read, and the one that ships, learned from public fleets."""

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.domain.risk.table import LearnedTable

FORMAT: Final = 3
_PUBLIC: Final = "public.json"


def load_table(path: Path | None = None) -> LearnedTable:
    """The table in a file, by default the one that ships; BadInput where it is none."""
    path = _shipped() if path is None else path
    try:
        return parse_table(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the learned table {path} cannot be read: {error}.") from error


def parse_table(text: str) -> LearnedTable:
    """The table of a file's text; BadInput where it is none."""
    try:
        written = json.loads(text)
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise BadInput(f"the learned table is not of format {FORMAT}. Make it again with `plimsoll learn`.")
        return _adapter().validate_python(written)
    except ValidationError as error:
        first = error.errors()[0]
        raise _unreadable(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from error
    except ValueError as error:
        raise _unreadable(str(error)) from error


def table_or_none(text: str | None) -> LearnedTable | None:
    """The table that audits learned, by its file's text; None where there is none, or one of another version.

    Only audits write it, so that the next one learns it anew.
    """
    try:
        return None if text is None else parse_table(text)
    except BadInput:
        return None


def table_text(table: LearnedTable) -> str:
    """A table as its file has it."""
    return json.dumps({"format": FORMAT, **asdict(table)}, indent=2) + "\n"


def _shipped() -> Path:
    """Inside the installed package, or benchmarks/learned of a checkout."""
    installed = Path(str(files("plimsoll"))) / "learned" / _PUBLIC
    return installed if installed.is_file() else Path(__file__).parents[2] / "benchmarks" / "learned" / _PUBLIC


def _unreadable(why: str) -> BadInput:
    return BadInput(f"the learned table cannot be read ({why}). Make it again with `plimsoll learn`.")


@cache
def _adapter() -> TypeAdapter[LearnedTable]:
    return TypeAdapter(LearnedTable)
