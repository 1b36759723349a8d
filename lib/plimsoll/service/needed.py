"""What a part of a run needs of what another part kept: it is there, or the run's work is gone."""

from pathlib import Path

from plimsoll.domain.errors import BadInput
from plimsoll.ports import RunStore
from plimsoll.writing import make_folder


def needed(store: RunStore, key: str) -> bytes:
    """What is kept under a key that must be there; BadInput where it is gone."""
    content = store.get(key)
    if content is None:
        raise _gone(key)
    return content


def bring_needed(store: RunStore, key: str, path: Path) -> None:
    """Brings what must be there into a file; BadInput where it is gone."""
    make_folder(path.parent)
    if not store.get_file(key, path):
        raise _gone(key)


def _gone(key: str) -> BadInput:
    return BadInput(f"the store has no {key}: the work of a run goes after a month; begin a new audit.")
