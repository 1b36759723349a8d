"""Campaign files that cannot be used say where they are wrong; what they may leave out stays absent."""

from datetime import date

import pytest

from plimsoll.envelopes.campaigns import load_campaign
from plimsoll.envelopes.library import load_library
from plimsoll.model.errors import BadInput
from tests.builders import TYPES

GOOD = """
campaign: mine
title: A gp3
source: notes
tool: fio
provider: aws
systems:
  my-gp3:
    title: gp3
    spec: {type: gp3, size_gib: 100, iops: 3000, throughput_mib_s: 125}
measurements:
  - {system: my-gp3, mode: randread, block_kib: 16, iops: 2990, throughput: 46.7 MiB/s}
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="mine.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_small_campaign_is_read(written):
    campaign = load_campaign(written(GOOD))
    (system,) = campaign.systems
    (one,) = system.measurements
    assert (campaign.name, system.name, one.iops, one.throughput_mib_s) == ("mine", "my-gp3", 2_990, 46.7)
    assert one.printed == (("iops", "2990"), ("throughput", "46.7 MiB/s"))


def test_what_a_campaign_leaves_out_is_absent(written):
    (system,) = load_campaign(written(GOOD.replace(", throughput: 46.7 MiB/s", ""))).systems
    (one,) = system.measurements
    assert one.throughput_mib_s is None
    assert one.latency.mean_us is None
    assert one.latency.percentiles_us == ()
    assert one.provenance.measured_on is None
    assert (one.host_type, system.host_maximum, system.published_iops) == (None, None, None)


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("source: notes", "source: notes\ncolor: red", ("color", "extra inputs are not permitted")),
        ("block_kib: 16", "block_kb: 16", ("measurements.0.block_kib", "field required")),
        ("iops: 2990,", "iops: 2990, iopz: 1,", ("measurements.0.iopz", "extra inputs")),
        ("block_kib: 16", "block_kib: 0", ("measurements.0.block_kib", "greater than 0")),
        ("system: my-gp3", "system: your-gp3", ("your-gp3", "not under systems")),
        ("46.7 MiB/s", "46.7", ("'46.7' is no throughput", "47.2MiB/s")),
        ("46.7 MiB/s", "46.7 parsecs", ("'46.7 parsecs' is no throughput",)),
        ("iops: 2990,", "iops: many,", ("many",)),
        ("provider: aws", "provider: aws\nmeasured_on: last week", ("'last week' is no date",)),
        ("tool: fio", "", ("tool", "field required")),
        ("size_gib: 100", "size_gib: large", ("systems.my-gp3.spec.size_gib", "integer")),
        ("46.7 MiB/s", "46.7 MiB/s, latency_bin: soon", ("'soon' is no latency",)),
        (
            "46.7 MiB/s",
            "46.7 MiB/s, figures: {read: {iops: 10}}",
            ("'mib_s' is missing",),
        ),
    ],
)
def test_a_campaign_that_is_wrong_says_where(written, good, bad, told):
    assert good in GOOD
    path = written(GOOD.replace(good, bad))
    with pytest.raises(BadInput) as raised:
        load_campaign(path)
    for words in (str(path), *told):
        assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["campaign: [", "a: b: c", "\tcampaign: x"])
def test_what_is_not_yaml_cannot_be_read_and_says_in_which_line(written, text):
    path = written(text)
    with pytest.raises(BadInput, match=r"cannot be read:.*line \d") as raised:
        load_campaign(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("text", ["", "just words", "- a\n- list"])
def test_yaml_that_is_no_mapping_is_wrong_at_its_top(written, text):
    with pytest.raises(BadInput, match="is wrong at its top"):
        load_campaign(written(text))


def test_bytes_that_are_no_text_cannot_be_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00campaign")
    with pytest.raises(BadInput, match="cannot be read"):
        load_campaign(path)


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        load_campaign(tmp_path / "absent.yaml")


def test_a_campaign_cannot_make_python_objects(written):
    path = written(GOOD.replace("title: A gp3", "title: !!python/object/apply:os.getcwd []"))
    with pytest.raises(BadInput, match="title"):
        load_campaign(path)


def test_two_campaigns_may_not_measure_systems_of_one_name(written, tmp_path):
    written(GOOD, "a.yaml")
    written(GOOD, "b.yaml")
    with pytest.raises(BadInput, match=r"b\.yaml names a system my-gp3"):
        load_library([tmp_path], TYPES)


def test_an_envelope_that_is_not_there_names_the_nearest(written, tmp_path):
    written(GOOD)
    with pytest.raises(BadInput, match=r"there is no envelope my-gp2: did you mean my-gp3\?"):
        load_library([tmp_path], TYPES).get("my-gp2")


@pytest.mark.parametrize(
    ("printed", "mib_s"),
    [
        ("1024KiB/s", 1),
        ("2 MiB/s", 2),
        ("1GiB/s", 1024),
        ("1048.576kB/s", 1),
        ("104.8576MB/s", 100),
        ("1.048576 GB/s", 1000),
    ],
)
def test_throughput_is_read_in_the_unit_it_is_printed_in(written, printed, mib_s):
    (system,) = load_campaign(written(GOOD.replace("46.7 MiB/s", printed))).systems
    assert system.measurements[0].throughput_mib_s == pytest.approx(mib_s)


@pytest.mark.parametrize(
    ("printed", "day"),
    [
        ("2021-05-07", date(2021, 5, 7)),
        ("2020-12", date(2020, 12, 1)),
        ("2019", date(2019, 1, 1)),
        ("2019-20", date(2019, 1, 1)),
    ],
)
def test_a_date_that_is_only_a_month_or_a_year_is_its_first_day(written, printed, day):
    (system,) = load_campaign(written(GOOD.replace("provider: aws", f"provider: aws\nmeasured_on: {printed}"))).systems
    assert system.measurements[0].provenance.measured_on == day
