"""Loop devices of a test's own, gone afterwards."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def a_loop_device(folder: Path, *options: str, mib: int = 256) -> Iterator[Path]:
    """An empty block device of so many MiB, backed by a sparse file in the folder."""
    image = folder / "image"
    with image.open("wb") as made:
        made.truncate(mib << 20)
    found = subprocess.run(
        ["losetup", "--find", "--show", *options, str(image)], capture_output=True, text=True, check=True
    )
    device = Path(found.stdout.strip())
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", str(device)], check=True)
