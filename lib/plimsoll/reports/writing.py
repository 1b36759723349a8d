"""Files written whole or not at all, so that nobody ever reads half of one."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.domain.errors import BadInput


def write_lines(lines: Iterable[str], out: Path, encoding: str) -> None:
    """Writes a text file, whole or not at all."""
    with whole(out) as beside, beside.open("w", encoding=encoding, newline="") as file:
        file.writelines(lines)


@contextmanager
def whole(out: Path) -> Iterator[Path]:
    """A path beside the file to be written, which takes its place when the block ends well, and is removed if not."""
    beside = out.with_name(f"{out.name}.new")
    with writable(out):
        beside.touch()
        try:
            yield beside
            beside.replace(out)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def writable(out: Path) -> Iterator[None]:
    """The folder of a file to be written is there; BadInput where that or the writing is not possible."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror or error}.") from error
