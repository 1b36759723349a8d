"""The learned table as a file: small JSON that people can read, and the one that ships, learned from public fleets."""

import json
import warnings
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.files import parse_json, read_text, seal, unseal
from plimsoll.model.errors import BadInput
from plimsoll.risk.learn import LearnedTable

TABLE_FORMAT: Final = 3
_PUBLIC: Final = "public.json"


class OtherFormatError(BadInput):
    """A learned table of another version."""


def load_table(path: Path | None = None) -> LearnedTable:
    """The table in a file, by default the one that ships; BadInput where it is none."""
    path = _shipped_path() if path is None else path
    try:
        return parse_table(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"the learned table {path} cannot be read: {reason}.") from error


def parse_table(text: str) -> LearnedTable:
    """The table of a file's text; BadInput where it is none."""
    try:
        written = parse_json(text)
        if not isinstance(written, dict) or written.get("format") != TABLE_FORMAT:
            raise OtherFormatError(
                f"the learned table is not of format {TABLE_FORMAT}. Make it again with `plimsoll learn`."
            )
        written = unseal(written)
        return _adapter().validate_python(written)
    except ValidationError as error:
        first = error.errors()[0]
        raise _unreadable(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from error
    except ValueError as error:
        raise _unreadable(str(error)) from error


def kept_table(path: Path | None) -> LearnedTable | None:
    """The table that audits learned, in its file; None as of `table_or_none`, or where there is no file."""
    if path is None or not path.exists():
        return None
    try:
        return table_or_none(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        _warn_of(error)
        return None


def table_or_none(text: str | None) -> LearnedTable | None:
    """The table that audits learned, by its file's text; None where there is none, or one of another version.

    Only audits write it, so that the next one learns it anew. A warning says where it is damaged.
    """
    try:
        return None if text is None else parse_table(text)
    except OtherFormatError:
        return None
    except BadInput as error:
        _warn_of(error)
        return None


def _warn_of(error: Exception) -> None:
    warnings.warn(f"the table that earlier audits learned is not used, and is learned again: {error}", stacklevel=3)


def table_text(table: LearnedTable) -> str:
    """A table as its file has it."""
    return json.dumps(seal({"format": TABLE_FORMAT, **asdict(table)}), indent=2) + "\n"


def _shipped_path() -> Path:
    """Inside the installed package, or benchmarks/learned of a checkout."""
    installed = Path(str(files("plimsoll"))) / "learned" / _PUBLIC
    return installed if installed.is_file() else Path(__file__).parents[2] / "benchmarks" / "learned" / _PUBLIC


def _unreadable(why: str) -> BadInput:
    return BadInput(f"the learned table cannot be read ({why}). Make it again with `plimsoll learn`.")


@cache
def _adapter() -> TypeAdapter[LearnedTable]:
    return TypeAdapter(LearnedTable)
