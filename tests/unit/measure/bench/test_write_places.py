"""A benchmark writes over nothing: what holds or is part of anything is refused, with what it is and what to do."""

import os
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.model.errors import BadInput
from plimsoll_measure.bench.write_places import GIB, BenchTarget, check_room, hold_device, target_at
from tests.unit.measure.bench.loops import a_loop_device

MIB = 1 << 20


def put(device: Path, place: int, what: bytes) -> None:
    with device.open("r+b") as written:
        written.seek(place)
        written.write(what)


def a_partition_table() -> bytes:
    """One Linux partition of 100 MiB from 1 MiB on."""
    entry = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\0\2\0", 2048, 204_800)
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def a_raid_superblock() -> bytes:
    """md's, version 1.2, as it stands 4 KiB into each member."""
    block = bytearray(4096)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    struct.pack_into("<Q", block, 144, 8)
    return bytes(block)


def an_lvm_label() -> bytes:
    """A physical volume's, as it stands in its second sector, with LVM's own checksum."""
    label = bytearray(512)
    struct.pack_into("<8sQII8s32s", label, 0, b"LABELONE", 1, 0, 32, b"LVM2 001", b"A" * 32)
    checksum = 0xF597A6CF
    for byte in label[20:]:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0xEDB88320 if checksum & 1 else 0)
    struct.pack_into("<I", label, 16, checksum)
    return bytes(label)


def refused(path: Path, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        target_at(path)
    assert str(path.resolve()) in str(error.value)


@pytest.mark.needs("loop")
def test_an_empty_device_is_taken_with_its_size(tmp_path):
    with a_loop_device(tmp_path) as device:
        assert target_at(device) == BenchTarget(path=device, is_device=True, size_bytes=256 * MIB)


@pytest.mark.needs("loop")
def test_a_device_with_a_filesystem_is_refused_and_untouched(tmp_path):
    with a_loop_device(tmp_path) as device:
        subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
        before = device.read_bytes()
        refused(device, "has the signature of ext4: a benchmark writes over what is there.*Give an empty device")
        assert device.read_bytes() == before


@pytest.mark.needs("loop")
@pytest.mark.parametrize(
    ("place", "what", "named"),
    [
        (0, a_partition_table(), "dos"),
        (4096, a_raid_superblock(), "linux_raid_member"),
        (512, an_lvm_label(), "LVM2_member"),
    ],
)
@pytest.mark.parametrize("tool", ["wipefs", "blkid"])
def test_a_device_with_a_partition_table_raid_or_lvm_is_refused(tmp_path, monkeypatch, place, what, named, tool):
    """Either tool says it where only that one is installed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / tool).symlink_to(
        next(Path(folder) / tool for folder in sbin() if (Path(folder) / tool).exists())
    )
    with a_loop_device(tmp_path) as device:
        put(device, place, what)
        with monkeypatch.context() as patched:
            patched.setenv("PATH", str(tmp_path / "bin"))
            refused(device, f"has the signature of {named}")


def sbin() -> list[str]:
    return [*os.environ["PATH"].split(os.pathsep), "/usr/sbin", "/sbin"]


@pytest.mark.needs("loop")
@pytest.mark.parametrize("place", [0, 1080, 4096, 256 * MIB - 65_536, 128 * MIB])
def test_without_any_tool_data_still_refuses_a_device(tmp_path, monkeypatch, place):
    with a_loop_device(tmp_path) as device:
        put(device, place, b"\x53")
        with monkeypatch.context() as patched:
            patched.setenv("PATH", str(tmp_path))
            refused(device, f"is not empty: there is data at byte .*blkdiscard -z {device}")


@pytest.mark.needs("loop")
def test_a_device_that_the_kernel_sees_partitions_on_is_refused(tmp_path):
    """Also where their table has been wiped from under it."""
    with a_loop_device(tmp_path) as device:
        subprocess.run(["addpart", str(device), "1", "2048", "204800"], check=True)
        try:
            refused(device, f"has partitions .{device.name}p1")
        finally:
            subprocess.run(["delpart", str(device), "1"], check=True)


@contextmanager
def mounted(device: Path, place: Path):
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
    subprocess.run(["mount", str(device), str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.needs("loop")
def test_a_mounted_device_is_refused_with_the_place_of_its_mount(tmp_path):
    with a_loop_device(tmp_path) as device, mounted(device, tmp_path / "mounted"):
        refused(device, f"is mounted on {tmp_path / 'mounted'}")


@pytest.mark.needs("loop")
def test_a_directory_on_a_volume_is_taken_with_its_filesystem_and_what_it_can_spare(tmp_path):
    with a_loop_device(tmp_path, mib=2048) as device, mounted(device, tmp_path / "mounted"):
        target = target_at(tmp_path / "mounted")
        room = os.statvfs(tmp_path / "mounted")
        assert (target.is_device, target.filesystem) == (False, "ext4")
        assert target.size_bytes == room.f_bavail * room.f_frsize - GIB
        check_room(target, target.size_bytes)
        with pytest.raises(BadInput, match=r"can spare 0\.\d GiB .* stay free.*--file-mib"):
            check_room(target, target.size_bytes + 1)


def test_a_tenth_of_a_filesystem_stays_free_and_a_gib_where_that_is_more(tmp_path):
    room = os.statvfs(tmp_path)
    kept = max(0.1 * room.f_blocks * room.f_frsize, GIB)
    spare = target_at(tmp_path).size_bytes
    assert spare <= max(0, room.f_bavail * room.f_frsize - kept) + 64 * MIB


@pytest.mark.needs("loop")
def test_a_claimed_device_cannot_be_claimed_twice(tmp_path):
    with a_loop_device(tmp_path) as device:
        target = target_at(device)
        with hold_device(target), pytest.raises(BadInput, match="cannot be opened exclusively"), hold_device(target):
            pass
        with hold_device(target):
            pass


def test_a_link_is_followed_to_what_it_leads_to(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    assert target_at(tmp_path / "link").path == tmp_path / "there"


def test_a_file_is_no_place_and_stays_as_it_is(tmp_path):
    (tmp_path / "file").write_text("mine")
    refused(tmp_path / "file", "is no directory and no block device")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_character_device_is_no_place():
    refused(Path("/dev/null"), "is no directory and no block device")


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="nowhere cannot be found: No such file"):
        target_at(tmp_path / "nowhere")


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(BadInput, match="link cannot be found"):
        target_at(tmp_path / "link")


@pytest.mark.needs("root")
def test_a_directory_in_memory_is_no_volume(tmp_path):
    (tmp_path / "memory").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(tmp_path / "memory")], check=True)
    try:
        refused(tmp_path / "memory", "is in memory .tmpfs., not on a volume")
    finally:
        subprocess.run(["umount", str(tmp_path / "memory")], check=True)


@pytest.mark.needs("loop")
@pytest.mark.parametrize("tool", ["wipefs", "blkid"])
@pytest.mark.parametrize("end", ["exit 1", "exit 127", "echo cannot open >&2; exit 2", "kill -9 $$"])
def test_a_tool_that_could_not_look_has_not_found_the_device_empty(tmp_path, monkeypatch, tool, end):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / tool).write_text(f"#!/bin/sh\n{end}\n")
    (tmp_path / "bin" / tool).chmod(0o755)
    with a_loop_device(tmp_path) as device, monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path / "bin"))
        refused(device, f"{tool} could not")


@pytest.mark.needs("loop")
def test_what_wipefs_prints_and_nobody_can_read_has_not_found_the_device_empty(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wipefs").write_text("#!/bin/sh\necho '{\"signatures\": ['\n")
    (tmp_path / "bin" / "wipefs").chmod(0o755)
    with a_loop_device(tmp_path) as device, monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path / "bin"))
        refused(device, "wipefs could not say whether")


@pytest.mark.needs("root")
def test_a_filesystem_that_lies_over_another_is_told_as_it_is(tmp_path):
    """The directory in memory is found by what a path leads to, not by a number that others may share."""
    for _ in range(2):
        subprocess.run(["mount", "-t", "tmpfs", "none", str(tmp_path)], check=True)
    try:
        refused(tmp_path, "is in memory .tmpfs.")
    finally:
        for _ in range(2):
            subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_filesystem_of_which_the_kernel_does_not_tell_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll_measure.bench.write_places._mount_lines", lambda: iter(()))
    refused(tmp_path, "the filesystem of")
