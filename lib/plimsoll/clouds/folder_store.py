"""A store in a folder: the jobs of validations on one machine, and the reference of the service's store."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.domain.errors import BadInput
from plimsoll.writing import BESIDE, whole


@dataclass(frozen=True, slots=True)
class FolderStore:
    """Each key is a file under the folder, which is made when something is kept."""

    folder: Path

    def put(self, key: str, content: bytes) -> None:
        """Keeps content under a key, whole or not at all."""
        with whole(self._path(key)) as beside:
            beside.write_bytes(content)

    def get(self, key: str) -> bytes | None:
        """What is kept under a key, None where nothing is."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in the order of their bytes."""
        found = (
            (Path(parent) / name).relative_to(self.folder).as_posix()
            for parent, _folders, names in os.walk(self._path(prefix.rpartition("/")[0]))
            for name in names
            if not name.startswith(BESIDE)
        )
        yield from sorted((key for key in found if key.startswith(prefix)), key=str.encode)

    def delete(self, key: str) -> None:
        """Keeps nothing under a key any more."""
        self._path(key).unlink(missing_ok=True)

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, from a file."""
        with whole(self._path(key)) as beside:
            shutil.copyfile(path, beside)

    def get_file(self, key: str, path: Path) -> bool:
        """Brings what is kept into a file; False where nothing is."""
        kept = self._path(key)
        if not kept.is_file():
            return False
        with whole(path) as beside:
            shutil.copyfile(kept, beside)
        return True

    def _path(self, key: str) -> Path:
        """The file of a key; BadInput for one that would lie outside the folder."""
        path = self.folder / key
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise BadInput(f"{key} is no key: it lies outside {self.folder}.")
        return path
