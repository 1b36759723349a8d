"""A host for the script: the document's own commands, run by sh on this machine against devices of its own."""

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.model.task import Task, TaskMode
from plimsoll_measure.bench.document import parameters_of, render_commands

MIB = 1 << 20
JOB = """
[global]
ioengine=libaio
direct=1
time_based
runtime=1
group_reporting
[mixed]
rw=randrw
bs=4k
iodepth=4
"""
READS = "[reads]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=4\ntime_based\nruntime=1\n"
LONG = "[long]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=4\ntime_based\nruntime=300\n"
_LINKS = Path("/dev/disk/by-id")


def a_task(**changes) -> Task:
    return Task(**{"mode": TaskMode.DEVICE, "volume_id": "vol-0123456789abcdef0", "job": JOB, "limit_s": 60, **changes})


def commands(task: Task) -> str:
    return "\n".join(render_commands(parameters_of(task)))


def run(
    task: Task, folder: Path, *, over: Mapping[str, Path] | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the document; its temporary files and its lock are in a folder of the test's own.

    `over`: what of the kernel's own tree looks otherwise to it, by files and folders that take its place.
    """
    command = ["/bin/sh", "-c", commands(task)]
    if over:
        mounts = " && ".join(f'mount --bind "{fake}" "{real}"' for real, fake in over.items())
        command = ["unshare", "--mount", "/bin/sh", "-c", f'{mounts} && exec "$0" "$@"', *command]
    return subprocess.run(
        command,
        env=environment(folder, variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def running(task: Task, folder: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        ["/bin/sh", "-c", commands(task)],
        env=environment(folder, variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    own = {"PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp"), "PLIMSOLL_LOCK": str(folder / "lock")}
    return own | variables


def processes_in(folder: Path) -> list[str]:
    """What runs with a path of the folder among its arguments: fio, and what guards it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder / "tmp") in line:
                found.append(line)
    return found


def eventually(holds, *, seconds: float = 300) -> bool:
    """Whether something comes to hold; the bound only ends a test that fails."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return bool(holds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    id: str
    device: str
    image: Path


Prepare = Callable[[Path], None] | None


def formatted(kind: str) -> Prepare:
    return lambda image: subprocess.run([f"mkfs.{kind}", "-q", image], check=True, capture_output=True)


def holding(*pieces: tuple[int, bytes]) -> Prepare:
    def write(image: Path) -> None:
        with image.open("r+b") as file:
            for place, piece in pieces:
                file.seek(place)
                file.write(piece)

    return write


TABLE = holding((446, b"\0\0\0\0\x83\0\0\0\0\x08\0\0\0\x10\0\0"), (510, b"\x55\xaa"))
"""Of partitions, with one of them."""


@contextmanager
def a_partition(device: str, size_mib: int) -> Iterator[None]:
    """A partition that the kernel knows, from the second MiB on; kernels exist that read no table."""
    subprocess.run(["addpart", device, "1", "2048", str((size_mib - 1) * MIB // 512)], check=True)
    try:
        yield
    finally:
        subprocess.run(["delpart", device, "1"], check=True)


@contextmanager
def mounted(device: str, place: Path, make: str | None = None) -> Iterator[None]:
    if make is not None:
        subprocess.run([make, "-q", device], check=True)
    place.mkdir()
    subprocess.run(["mount", device, place], check=True)
    try:
        yield
    finally:
        # The threads of a killed fio end their I/O first, and hold the place until then.
        assert eventually(lambda: subprocess.run(["umount", place], check=False).returncode == 0, seconds=60)


def source_of(place: Path) -> str:
    found = subprocess.run(["findmnt", "-n", "-o", "SOURCE", place], capture_output=True, text=True, check=True)
    return found.stdout.strip()


@contextmanager
def a_volume(folder: Path, size_mib: int = 64, prepare: Prepare = None) -> Iterator[Volume]:
    """A loop device with a link that says it is the volume; `prepare` writes to its image before it is attached."""
    volume_id = f"vol-0{secrets.token_hex(8)}"
    image = folder / f"{volume_id}.img"
    with image.open("wb") as file:
        file.truncate(size_mib * MIB)
    if prepare is not None:
        prepare(image)
    device = subprocess.run(
        ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
    ).stdout.strip()
    with linked(volume_id, device):
        try:
            yield Volume(id=volume_id, device=device, image=image)
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


@contextmanager
def linked(volume_id: str, device: str) -> Iterator[None]:
    _LINKS.mkdir(parents=True, exist_ok=True)
    link = _LINKS / f"nvme-Amazon_Elastic_Block_Store_{volume_id.replace('-', '')}"
    link.symlink_to(device)
    try:
        yield
    finally:
        link.unlink()


@contextmanager
def a_filesystem(folder: Path, size_mib: int = 2048, kind: str = "ext4") -> Iterator[Path]:
    """A mounted filesystem on a volume of its own, whose id is part of the place's name."""
    with a_volume(folder, size_mib, prepare=formatted(kind)) as volume:
        place = folder / f"mounted {volume.id}"
        with mounted(volume.device, place):
            yield place


def volume_at(place: Path) -> str:
    return place.name.removeprefix("mounted ")


def commands_at(folder: Path, **scripts: str) -> str:
    """A PATH of nothing but what the script takes for granted, and these commands before it."""
    front = folder / "commands"
    front.mkdir(exist_ok=True)
    for name, text in scripts.items():
        command = front / name.replace("_", "-")
        command.write_text(f"#!/bin/sh\n{text}\n")
        command.chmod(0o755)
    behind = folder / "granted"
    behind.mkdir(exist_ok=True)
    for name in GRANTED:
        found = shutil.which(name)
        if found and not (behind / name).exists():
            (behind / name).symlink_to(found)
    return f"{front}:{behind}"


GRANTED = (
    *("awk", "base64", "blkid", "cat", "cut", "date", "dd", "df", "env", "flock", "grep", "head", "id", "ionice", "ls"),
    *("lsblk", "mkdir", "mktemp", "nice", "paste", "printf", "readlink", "rm", "rmdir", "sed", "setsid", "sh", "sleep"),
    *("sort", "tail", "timeout", "tr", "wc", "wipefs"),
)
