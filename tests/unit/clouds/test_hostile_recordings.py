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

from plimsoll.clouds.recording import found_member, listed_out, open_recording
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.ports import Target
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
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


WRONG_ABOUT = {
    "a time without a zone": {"now": "2026-11-20T12:00:00"},
    "no time": {"now": None},
    "a list of formats": {"format": [3]},
    "days that are texts": {"retention_days": {"aws": {"60": "many"}}},
    "days that are negative": {"retention_days": {"aws": {"60": -1}}},
    "days without an end": {"memory_days": {"aws": float("inf")}},
    "days that are truth values": {"memory_days": {"aws": True}},
    "seconds that are nested": {"visible_after_s": {"aws": [1]}},
    "targets that are a mapping": {"targets": {"a": 1}},
}


@pytest.mark.parametrize("wrong", WRONG_ABOUT.values(), ids=WRONG_ABOUT)
def test_a_recording_that_says_nonsense_of_itself_is_none(tmp_path, wrong):
    path = a_recording(tmp_path / "answers.zip", **{"about.json": json.dumps(ABOUT | wrong)})
    with pytest.raises(BadInput, match=r"answers\.zip"):
        open_recording(path)


def a_book(**changes):
    price = {"gib_month": 0.08, "iops_tiers": [[32000, 0.07], [None, 0.03]], **changes}
    return json.dumps({"region": HERE.region, "source": "x", "as_of": "2026-11-20", "types": {"gp3": price}})


WRONG_PRICES = {
    "negative": {"gib_month": -0.08},
    "a negative tier": {"iops_tiers": [[None, -0.1]]},
    "far too much": {"gib_month": 1e9},
    "no number": {"gib_month": float("nan")},
    "without an end": {"throughput_mib_s_month": float("inf")},
    "tiers that fall": {"iops_tiers": [[64000, 0.1], [32000, 0.05], [None, 0.01]]},
    "negative figures": {"included_iops": -3000},
    "nested": {"gib_month": [0.08]},
}


@pytest.mark.parametrize("wrong", WRONG_PRICES.values(), ids=WRONG_PRICES)
def test_recorded_prices_are_judged_like_live_ones(tmp_path, wrong):
    (good,) = open_recording(a_recording(tmp_path / "good.zip", **{MEMBERS[2]: a_book()}))
    assert good.book(HERE).types["gp3"].gib_month == 0.08
    (bad,) = open_recording(a_recording(tmp_path / "bad.zip", **{MEMBERS[2]: a_book(**wrong)}))
    with pytest.raises(CloudError, match=r"bad\.zip"):
        bad.book(HERE)


@pytest.mark.parametrize("figure", [-1.0, float("inf"), -float("inf"), 1e300])
def test_recorded_series_are_judged_like_live_ones(tmp_path, figure):
    values = np.zeros(ASK.look.window.buckets(60))
    values[7] = figure
    told = refusals(a_recording(tmp_path / "answers.zip", **{FOUND: arrays(read_ops=values)}))
    assert any("read_ops" in one for one in told)
    values[7] = np.nan
    told = refusals(a_recording(tmp_path / "good.zip", **{FOUND: arrays(read_ops=values)}))
    assert not any("read_ops" in one for one in told)


WRONG_VOLUMES = {
    "no size": {"spec": {"type": "gp3", "size_gib": 0, "iops": 3000, "throughput_mib_s": 125}},
    "a negative size": {"spec": {"type": "gp3", "size_gib": -5, "iops": 3000, "throughput_mib_s": 125}},
    "a huge size": {"spec": {"type": "gp3", "size_gib": 10**12, "iops": 3000, "throughput_mib_s": 125}},
    "negative IOPS": {"spec": {"type": "gp3", "size_gib": 5, "iops": -3000, "throughput_mib_s": 125}},
    "another account": {"account": "999999999999"},
    "another region": {"region": "eu-west-9"},
    "no id": {"id": ""},
}


@pytest.mark.parametrize("wrong", WRONG_VOLUMES.values(), ids=WRONG_VOLUMES)
def test_recorded_volumes_are_judged_like_live_ones(tmp_path, wrong):
    plain = json.loads(listed_out(a_volume(id="vol-a")))
    (good,) = open_recording(a_recording(tmp_path / "good.zip", **{MEMBERS[0]: json.dumps(plain)}))
    assert [one.id for one in good.volumes(HERE)] == ["vol-a"]
    (bad,) = open_recording(a_recording(tmp_path / "bad.zip", **{MEMBERS[0]: json.dumps({**plain, **wrong})}))
    with pytest.raises(CloudError, match=r"bad\.zip"):
        list(bad.volumes(HERE))
