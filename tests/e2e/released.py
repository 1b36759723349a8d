"""The last release's templates: what an upgrade begins with, and what a rollback deploys again.

`python -m tests.e2e.released` writes `released/VERSION.zip`, of what this checkout synthesizes. A release does so last
(CONTRIBUTING.md). Until there is one, 0.1.0.zip has what commit 79f18e36 synthesized, the last one before parts of a
deployment could be chosen that it did not know.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

from plimsoll.distribution import own_version
from tests.e2e.deployment import Synthesized, synthesize

STAGE: Final = "trial"
SETTINGS: Final = {
    "stage": STAGE,
    "assets": "empty",
    "external_id": "as-the-roles-ask",
    "slack__teams": "T0123ABCDEF",
    "slack__channel": "C0123ABCDEF",
    "slack__user_groups": "S0123ABCDEF",
}
"""The settings of a deployment whose life is followed."""

OF_THE_RELEASE: Final = {"audit_memory_mib": "1024", "max_concurrency": "3"}
"""What its owner changes with the upgrade: both defaults come in their place."""

_FOLDER: Final = Path(__file__).with_name("released")
_NEEDED: Final = ("manifest.json", "*.template.json", "*.assets.json", "asset.*")


def last_release(folder: Path) -> Synthesized:
    """The last release as it was synthesized, in that folder."""
    (file,) = _FOLDER.glob("*.zip")
    with ZipFile(file) as kept:
        kept.extractall(folder)
    return Synthesized(folder=folder)


def keep(synthesized: Path, file: Path) -> None:
    """Keeps what a deployment takes of a synthesis, in the place of what was kept."""
    for older in file.parent.glob("*.zip"):
        older.unlink()
    file.parent.mkdir(exist_ok=True)
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=9) as kept:
        for path in sorted(path for pattern in _NEEDED for path in synthesized.glob(pattern)):
            kept.writestr(path.name, path.read_bytes())


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        keep(synthesize(Path(temporary), **SETTINGS, **OF_THE_RELEASE).folder, _FOLDER / f"{own_version()}.zip")
