"""Facts in a folder of this machine."""

import os
from dataclasses import dataclass

from plimsoll.clouds.local_store import FolderStore
from plimsoll.files import BESIDE, OWN_FILE, make_folder, writable


@dataclass(frozen=True, slots=True)
class FolderFacts(FolderStore):
    """Each fact is a file. Of two processes that write the same one, the link of the first stands."""

    def put_new(self, key: str, content: bytes) -> bool:
        """Keeps content under a key, on the disk; False if something is there already."""
        path = self._path(key)
        with writable(path):
            make_folder(path.parent)
            beside = path.with_name(f"{BESIDE}{os.getpid()}-{os.urandom(8).hex()}")
            try:
                with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWN_FILE), "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(beside, path)
            except FileExistsError:
                return False
            finally:
                beside.unlink(missing_ok=True)
        return True
