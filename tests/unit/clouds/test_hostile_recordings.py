"""A recording that is garbage, or unpacks to more than this machine holds, is refused with a sentence."""

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.recording import found_member, open_recording
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.domain.metrics.asks import Ask
from plimsoll.domain.metrics.knowledge import Look
from plimsoll.domain.metrics.sums import Window
from plimsoll.ports import Target
from tests.builders import NOW, a_volume

REPOSITORY = Path(__file__).parents[3]
HERE = Target(account="111122223333", region="us-east-1")
ASK = Ask(volume=a_volume(id="vol-a"), look=Look(window=Window.before(NOW, days=1), period_s=60))
FOUND = found_member(ASK, "npz")
ABOUT = {
    "format": 3,
    "now": NOW.isoformat(),
    "version": "1",
    "retention_days": {"aws": {"60": 15}},
    "targets": [{"account": HERE.account, "region": HERE.region, "provider": "aws"}],
}
MEMBERS = (*(f"111122223333/us-east-1/{name}" for name in ("volumes.jsonl", "notices.json", "prices.json")), FOUND)
MIB = 2**20


def a_recording(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in {"about.json": json.dumps(ABOUT), **members}.items():
            written.writestr(name, content)
    return path


def refusals(path):
    """What every answer of a recording is refused with, in words; any other error ends the test."""
    told = []
    try:
        (one,) = open_recording(path)
    except BadInput as error:
        return [str(error)]
    for ask in (lambda: list(one.volumes(HERE)), lambda: one.notices(HERE), lambda: one.book(HERE)):
        try:
            ask()
        except CloudError as error:
            told.append(str(error))
    (found,) = one.read([ASK])
    return [*told, str(found)] if isinstance(found, CloudError) else told


def arrays(**given):
    packed = io.BytesIO()
    np.savez_compressed(packed, **given)
    return packed.getvalue()


GARBAGE = st.one_of(
    st.binary(max_size=200),
    st.sampled_from(
        [b"null", b"{}", b"[]", b"[" * 100_000, b'{"error": {}}', b'{"error"', b'{"unread": 1}', b"9" * 9_000]
    ),
    st.builds(lambda length: arrays(read_ops=np.zeros(length)), st.integers(0, 3)),
    st.sampled_from([arrays(read_ops=np.array(["text"])), arrays(read_ops=np.zeros((1440, 2)))]),
)


@given(member=st.sampled_from(MEMBERS), content=GARBAGE)
def test_garbage_in_a_member_costs_that_answer_alone(tmp_path_factory, member, content):
    path = a_recording(tmp_path_factory.mktemp("garbage") / "answers.zip", **{member: content})
    told = refusals(path)
    assert told
    assert all("recording" in one or member.endswith("jsonl") or member == FOUND for one in told)


@given(content=GARBAGE)
def test_garbage_about_a_recording_is_no_recording(tmp_path_factory, content):
    path = a_recording(tmp_path_factory.mktemp("garbage") / "answers.zip", **{"about.json": content})
    with pytest.raises(BadInput, match="is not a recording"):
        open_recording(path)


@given(at=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_byte_that_changed_ends_nothing_but_with_a_sentence(tmp_path_factory, at, flip):
    path = a_recording(
        tmp_path_factory.mktemp("flipped") / "answers.zip",
        **{MEMBERS[0]: "", MEMBERS[1]: "[]", MEMBERS[2]: "null", FOUND: arrays(read_ops=np.zeros(1440))},
    )
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= flip
    path.write_bytes(content)
    refusals(path)


def a_bomb(path, member, *, says_bytes=None):
    """A recording in which a member of some KiB unpacks to 300 MiB, and may say that it is smaller."""
    with (
        zipfile.ZipFile(a_recording(path), "a", zipfile.ZIP_DEFLATED, compresslevel=1) as written,
        written.open(member, "w") as file,
    ):
        for _ in range(300):
            file.write(bytes(MIB))
    if says_bytes is not None:
        content = bytearray(path.read_bytes())
        entry = content.rindex(b"PK\x01\x02")
        content[entry + 24 : entry + 28] = struct.pack("<I", says_bytes)
        path.write_bytes(content)
    return path


def test_a_bomb_is_refused_in_bounded_memory(tmp_path):
    bombs = [a_bomb(tmp_path / f"{number}.zip", member) for number, member in enumerate((MEMBERS[0], FOUND))]
    bombs.append(a_bomb(tmp_path / "liar.zip", MEMBERS[0], says_bytes=1000))
    nested = arrays(read_ops=np.zeros(16 * MIB))
    bombs.append(a_recording(tmp_path / "nested.zip", **{FOUND: nested}))
    program = (
        "import resource, sys; from pathlib import Path;"
        "from tests.unit.clouds.test_hostile_recordings import refusals;"
        "pages = int(Path('/proc/self/statm').read_text().split()[0]);"
        "most = pages * resource.getpagesize() + 100 * 2**20; resource.setrlimit(resource.RLIMIT_AS, (most, most));"
        "[print(refusals(Path(one))[-1]) for one in sys.argv[1:]]"
    )
    words = [sys.executable, "-c", program, *map(str, bombs)]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(bombs)
