"""Content that one part of a run keeps for another: it is there, or the run's work is gone."""

from pathlib import Path

from plimsoll.model.errors import BadInput
from plimsoll.output_files import make_folder
from plimsoll.ports import RunStore


def require_content(store: RunStore, key: str) -> bytes:
    """The content of a key. Raises BadInput if it is gone."""
    content = store.get(key)
    if content is None:
        raise _gone_error(key)
    return content


def require_file(store: RunStore, key: str, path: Path) -> None:
    """Copies the content of a key into a file. Raises BadInput if it is gone."""
    make_folder(path.parent)
    if not store.get_file(key, path):
        raise _gone_error(key)


def _gone_error(key: str) -> BadInput:
    return BadInput(f"the store has no {key}: the work of a run goes after a month; begin a new audit.")
