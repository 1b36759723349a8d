"""The book of validations: verdicts stay, and the last verdict stands."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.validation_book import VALIDATIONS_FILE, ValidationBook, ValidationLine
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadInput
from plimsoll.model.volume import VolumeSpec

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = "111111111111/us-east-1/gp3/104/62"


def a_line(**changes):
    line = ValidationLine(
        id="v-1",
        at=NOW,
        class_key=KEY,
        mode="canary",
        account="111111111111",
        region="us-east-1",
        zone="us-east-1a",
        volume_id="vol-1",
        serves=["vol-1", "vol-2"],
        spec=VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125),
        ceiling_iops=3000,
        ceiling_throughput_mib_s=125,
        need_iops=2500,
        need_throughput_mib_s=100,
        bench_host="i-1",
        bench_host_type="m5.24xlarge",
        passed=True,
        reasons=["delivered 3,000 IOPS"],
        failures=[],
        shown_iops=3000,
        shown_throughput_mib_s=125,
        p99_latency_us=900,
        too_slow=False,
        simulated=False,
        campaign="gp3-1",
        usd=0.01,
        seconds=60,
    )
    return line.model_copy(update=changes)


@pytest.fixture
def book(tmp_path):
    return ValidationBook(folder=tmp_path / "measured")


def test_what_is_added_is_there_in_order_and_survives_a_new_book(book):
    book.add(a_line())
    book.add(a_line(id="v-2", usd=None, p99_latency_us=None))
    assert [line.id for line in ValidationBook(folder=book.folder).lines()] == ["v-1", "v-2"]
    assert next(iter(book.lines())) == a_line()


def test_a_damaged_line_is_named(book):
    book.add(a_line())
    with (book.folder / VALIDATIONS_FILE).open("a", encoding="utf-8") as into:
        into.write('{"id": "half')
    with pytest.raises(BadInput, match=rf"line 2 of .*{VALIDATIONS_FILE} is no validation"):
        list(book.lines())


def test_a_pass_refutes_nothing(book):
    book.add(a_line())
    assert not book.failed_measurements()


def test_what_delivered_less_than_it_should_is_refuted_on_that_side(book):
    book.add(a_line(passed=False, shown_iops=2000.0, failures=["delivered only 2,000 IOPS of the 2,500"]))
    (found,) = book.failed_measurements()
    assert found.delivered == {Resource.IOPS: 2000.0}
    assert found.volume_id is None
    assert "was measured here on 2026-11-21 and did not pass: delivered only 2,000 IOPS" in found.text


def test_a_target_that_was_too_small_delivered_all_it_should_and_is_not_refuted(book):
    book.add(a_line(passed=False, need_iops=9000, shown_iops=3001.0))
    assert not book.failed_measurements()


def test_a_slow_answer_is_the_volumes_own(book):
    book.add(a_line(passed=False, too_slow=True))
    assert [(found.volume_id, found.delivered) for found in book.failed_measurements()] == [("vol-1", {})]


short = st.sampled_from([{}, {"shown_iops": 2000.0}, {"too_slow": True}, {"volume_id": "vol-2", "too_slow": True}])


@given(st.lists(st.tuples(st.booleans(), short), max_size=8))
def test_a_later_pass_of_the_class_clears_what_was_short_before(tmp_path_factory, verdicts):
    book = ValidationBook(folder=tmp_path_factory.mktemp("book"))
    for number, (passed, changes) in enumerate(verdicts):
        book.add(a_line(id=str(number), passed=passed, **({} if passed else changes)))
    book.add(a_line(id="last"))
    assert all(found.volume_id == "vol-2" for found in book.failed_measurements())


@pytest.mark.parametrize(
    ("mode", "cited"),
    [
        ("canary", "your measurement of 21 November 2026 for vol-1"),
        ("copy", "your measurement of 21 November 2026 on a copy of vol-1"),
    ],
)
def test_a_failed_verdict_is_cited_by_its_volume_and_opened_in_its_campaign(book, mode, cited):
    book.add(a_line(mode=mode, passed=False, shown_iops=1000.0))
    (failed,) = book.failed_measurements()
    assert failed.source == f"{cited} (fio): {book.folder / 'gp3-1.yaml'}"
    (kept,) = ValidationBook(folder=book.folder, at="s3://a-bucket/measured").failed_measurements()
    assert kept.source == f"{cited} (fio): s3://a-bucket/measured/gp3-1.yaml"
