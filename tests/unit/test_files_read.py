"""Files that people write or hand over: whatever stands in one, it is used, or refused by its name in one sentence."""

import json
import os

import pytest

from plimsoll.clouds.common.dated_data import load_prices
from plimsoll.clouds.recording import is_recording, open_recording
from plimsoll.envelopes.campaigns import load_campaign
from plimsoll.learned_table import load_table
from plimsoll.model.errors import BadInput
from plimsoll.policy_file import load_policy, parse_flags
from plimsoll.reports.run_files import DEMAND, RECOMMENDATIONS, RUN, UNANSWERED
from plimsoll.reports.run_folder import JOURNAL, RunFolder, bring_up_to_date
from plimsoll.reports.run_reader import (
    UnansweredRecord,
    find_profile,
    find_record,
    matched_records,
    read_records,
    read_run,
    stream_profiles,
    stream_unanswered,
)
from plimsoll.yaml_text import MOST_VALUES, parse_yaml
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

READERS = {
    "policy": lambda path: load_policy(path, {}),
    "prices": load_prices,
    "campaign": load_campaign,
    "learned table": load_table,
    "recording": open_recording,
}
CONTENTS = {
    "binary": bytes(range(256)),
    "Latin-1": "größe: 3".encode("latin-1"),
    "UTF-16": "headroom_pct: 3".encode("utf-16"),
    "a control character": b"a: \x07",
    "deep brackets": b"[" * 100_000,
    "deep mappings": b"{a: " * 100_000,
    "deep JSON": b'{"a":' * 100_000,
    "deep lists on a line": b"- " * 50_000 + b"x",
    "deep indentation": b"".join(b" " * depth + b"a:\n" for depth in range(200)),
    "an alias within itself": b"a: &a [*a]",
    "aliases of aliases": b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10) if n else b"1") for n in range(9)
    ),
    "an object": b"a: !!python/object/apply:os.system [echo]",
    "a day that is none": b"a: 2026-13-45",
    "a time that is none": b"a: 2026-02-30 25:61:61",
    "a time far away": b"a: 0001-01-01 00:00:00 +23:59",
    "a list as a key": b"? [1, 2]\n: 3",
    "a mapping as a key": b"? {a: 1}\n: 3",
    "a merge of a figure": b"<<: 3",
    "a number of digits": b"a: " + b"9" * 10_000,
    "binary that is none": b"a: !!binary '?'",
    "a list": b"[1, 2]",
    "a text": b"text",
    "a figure": b"7",
    "null as a key": b"null: 3\n7: 4\ntrue: 5",
    "a tab": b"a:\n\t- b",
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_what_is_no_such_file_is_refused_in_a_sentence(tmp_path, reader, content):
    path = tmp_path / "given.file"
    path.write_bytes(content)
    with pytest.raises(BadInput):
        reader(path)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("place", ["nothing", "a folder", "a pipe", "a link to nothing", "a device", "too large"])
def test_what_is_no_file_is_refused_at_once_by_its_name(tmp_path, reader, place):
    path = tmp_path / "given.file"
    if place == "a folder":
        path.mkdir()
    elif place == "a pipe":
        os.mkfifo(path)
    elif place == "a link to nothing":
        path.symlink_to(tmp_path / "nowhere")
    elif place == "a device":
        path.symlink_to("/dev/zero")
    elif place == "too large":
        with path.open("wb") as file:
            file.truncate(1 << 32)
    with pytest.raises(BadInput, match=r"given\.file"):
        reader(path)
    assert place == "too large" or not is_recording(path)


POLICIES = {
    "a truth value": "headroom_pct: true",
    "no number": "headroom_pct: .nan",
    "without an end": "headroom_pct: .inf",
    "negative": "headroom_pct: -1",
    "a day": "headroom_pct: 2026-11-20",
    "nested": "headroom_pct: [[20]]",
    "a list of lists": "target_types: [[gp3]]",
    "an override within itself": "overrides: &a [{tag: x, policy: {overrides: *a}}]",
    "a truth value among discounts": "discounts_pct: {aws: true}",
}


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES)
def test_a_policy_of_another_shape_is_refused_with_its_key(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        load_policy(path, {})


@pytest.mark.parametrize("value", ["[" * 5_000, "2026-13-45", "&a [*a]"])
def test_a_flag_of_another_shape_is_refused(value):
    with pytest.raises(BadInput):
        parse_flags([f"headroom_pct={value}"])


PRICES = """
verified_on: {day}
sources:
  mine: {{what: a list, where: here, as_of: {day}}}
regions:
  eu-west-9:
    source: mine
    gp3: {{gib_month: {gib}, iops_month: 0.005, included_iops: {included}}}
    io2: {{gib_month: 0.1, iops_tiers: {tiers}}}
"""
GOOD = {"day": "2026-11-20", "gib": "0.08", "included": "3000", "tiers": "[[32000, 0.07], [null, 0.03]]"}
WRONG_PRICES = {
    "negative": {"gib": "-0.08"},
    "a truth value": {"gib": "true"},
    "no number": {"gib": ".nan"},
    "without an end": {"gib": ".inf"},
    "far too much": {"gib": "80000"},
    "nested": {"gib": "[0.08]"},
    "a day that is a number": {"day": "20261120"},
    "a day that is none": {"day": "2026-11-31"},
    "a truth value for a figure": {"included": "true"},
    "tiers that fall": {"tiers": "[[64000, 0.07], [32000, 0.05], [null, 0.03]]"},
    "tiers that end": {"tiers": "[[32000, 0.07], [64000, 0.05]]"},
    "a tier twice": {"tiers": "[[32000, 0.07], [32000, 0.05], [null, 0.03]]"},
}


def test_prices_that_can_be_prices_are_used(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES.format(**GOOD), encoding="utf-8")
    assert load_prices(path).book("eu-west-9").types["gp3"].gib_month == 0.08


@pytest.mark.parametrize("wrong", WRONG_PRICES.values(), ids=WRONG_PRICES)
def test_prices_that_cannot_be_prices_are_refused(tmp_path, wrong):
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES.format(**GOOD | wrong), encoding="utf-8")
    with pytest.raises(BadInput, match=r"prices\.yaml"):
        load_prices(path)


def test_yaml_has_a_bound_on_what_it_grows_to_and_none_on_plain_aliases():
    assert parse_yaml("a: &a {b: 1}\nc: *a\nd: *a") == {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1}}
    assert len(parse_yaml("[" + "1," * 1000 + "]")) == 1000
    with pytest.raises(ValueError, match="values"):
        parse_yaml("[" + "1," * (MOST_VALUES + 10) + "]")


RUN_READERS = {
    RUN: [read_run],
    RECOMMENDATIONS: [
        read_records,
        lambda folder: find_record(folder, "vol-1"),
        lambda f: list(matched_records(f, None)),
    ],
    DEMAND: [
        lambda folder: list(stream_profiles(folder)),
        lambda folder: find_profile(folder, "vol-1"),
        lambda folder: list(matched_records(folder, None)),
    ],
    UNANSWERED: [lambda folder: list(stream_unanswered(folder))],
}


@pytest.fixture
def folder(tmp_path):
    """A complete run of three volumes, each with its demand, and two without an answer."""
    lost = [
        UnansweredRecord(account="1", region="r", volume_id=f"vol-{number}", outcome="failed", reason="x")
        for number in (8, 9)
    ]
    return a_run(tmp_path / "run", [a_record(volume_id=f"vol-{number}") for number in range(3)], unanswered=lost)


def cases():
    return [(name, number) for name, readers in RUN_READERS.items() for number in range(len(readers))]


@pytest.mark.parametrize(("name", "number"), cases())
def test_a_digit_that_flipped_in_a_run_is_named(folder, name, number):
    path, read = folder / name, RUN_READERS[name][number]
    content = path.read_bytes()
    digits = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
    assert digits
    for at in digits[:: max(1, len(digits) // 15)]:
        path.write_bytes(content[:at] + (b"7" if content[at : at + 1] != b"7" else b"8") + content[at + 1 :])
        with pytest.raises(BadInput, match=name.replace(".", r"\.")):
            read(folder)
    path.write_bytes(content)
    read(folder)


@pytest.mark.parametrize(("name", "number"), cases())
@pytest.mark.parametrize(
    "spoil", ["cut", "cut at a line", "a line less", "empty", "pipe", "folder", "deep", "no UTF-8"]
)
def test_a_file_of_a_run_that_is_spoiled_is_named(folder, name, number, spoil):
    path, read = folder / name, RUN_READERS[name][number]
    content = path.read_bytes()
    path.unlink()
    if spoil == "pipe":
        os.mkfifo(path)
    elif spoil == "folder":
        path.mkdir()
    else:
        lines = content.splitlines(keepends=True)
        path.write_bytes(
            {
                "cut": content[: len(content) // 2] or b"{",
                "cut at a line": b"".join(lines[:-1]) or b"{",
                "a line less": b"".join([*lines[:1], *lines[2:]]) if len(lines) > 2 else b"{",
                "empty": b"" if content else b" ",
                "deep": b"[" * 200_000,
                "no UTF-8": b"\xff\xfe" + content,
            }[spoil]
        )
    with pytest.raises(BadInput, match=name.replace(".", r"\.")):
        read(folder)


def test_a_run_of_an_earlier_version_without_checksums_is_read(folder):
    (folder / "checksums.json").unlink()
    run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    del run["checksum"]
    (folder / RUN).write_text(json.dumps(run), encoding="utf-8")
    assert read_run(folder)
    assert len(list(matched_records(folder, None))) == 3


@pytest.mark.parametrize("place", ["pipe", "folder"])
def test_a_journal_that_is_no_file_is_named(folder, place):
    (folder / JOURNAL).unlink()
    if place == "pipe":
        os.mkfifo(folder / JOURNAL)
    else:
        (folder / JOURNAL).mkdir()
    with pytest.raises(BadInput, match=r"journal\.jsonl"):
        bring_up_to_date(folder)


def test_temporary_files_of_a_killed_process_are_gone_after_a_resume(folder):
    left = [folder / ".plimsoll-0123456789abcdef", folder / f".plimsoll-{2**22 + 1}-0123", folder / ".plimsoll-x-y"]
    for path in left:
        path.write_text("half", encoding="utf-8")
    alive = folder / f".plimsoll-{os.getppid()}-0123"
    alive.write_text("being written", encoding="utf-8")
    with RunFolder(folder):
        pass
    assert [path for path in left if path.exists()] == []
    assert alive.exists()
