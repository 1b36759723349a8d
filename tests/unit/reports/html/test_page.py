"""The report as a file: whole, complete, self-contained, and harmless whatever the volumes are called."""

import tracemalloc
from collections import Counter
from urllib.parse import unquote

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy, SizeOn
from plimsoll.reports.html.volume_blocks import SIZE
from plimsoll.reports.printable import printable
from plimsoll.reports.record import BlockerRecord, LossRecord
from plimsoll.reports.steps import step_of
from tests.unit.reports.fleets import a_fleet, special_records
from tests.unit.reports.html.pages import link_of, read_page, written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.strategies import HOSTILE


def test_every_volume_is_in_exactly_one_block_with_its_own_details(tmp_path):
    fleet = a_fleet(2 * SIZE + 7)
    page = read_page(written(a_run(tmp_path, fleet)))
    assert page.volume_ids == [record.volume_id for record in fleet]
    assert [len(block["id"]) for block in page.rows] == [SIZE, SIZE, 7]
    details = [one for block in page.details for one in block]
    assert [one["record"]["volume_id"] for one in details] == page.volume_ids
    for record, one in zip(fleet, details, strict=True):
        assert one["record"] == record.model_dump(mode="json", exclude={"change", "way_back"})
        assert (one["profile"] is not None) == (record.demand is not None)
        assert one["link"] == link_of(record)


def test_the_table_says_of_each_volume_what_its_record_says(tmp_path):
    fleet = a_fleet(12)
    (block,) = read_page(written(a_run(tmp_path, fleet))).rows
    assert block["saved"] == [record.monthly_usd_saved for record in fleet]
    assert block["step"] == [str(step_of(record)) for record in fleet]
    assert block["change"] == [record.change for record in fleet]
    assert block["grade"] == [record.evidence.grade if record.evidence else None for record in fleet]


def test_a_profile_goes_to_its_volume_also_where_volumes_between_have_none(tmp_path):
    fleet = a_fleet(18)
    page = read_page(written(a_run(tmp_path, fleet)))
    found = [one["record"]["volume_id"] for one in page.details[0] if one["profile"]]
    assert found == [record.volume_id for record in fleet if record.demand]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_makes_an_element_or_ends_a_script(tmp_path, name):
    def page_of(text):
        record = a_record(name=text, owner=a_record().owner.model_copy(update={"kind": "terraform", "name": text}))
        folder = tmp_path / f"{len(text)}"
        return read_page(written(a_run(folder, [record], notices={text: [text]}), about=text))

    harmless, hostile = page_of("an-ordinary-name"), page_of(name)

    def shape(page):
        return Counter((tag, tuple(sorted(attributes))) for tag, attributes in page.elements if tag != "bdi")

    assert {tag for tag, _ in shape(hostile)} == {tag for tag, _ in shape(harmless)}
    assert shape(hostile)["script", ()] == shape(harmless)["script", ()] == 2
    assert not [key for _, attributes in hostile.elements for key in attributes if key.startswith("on")]
    assert all(not (attributes.get("href") or "").startswith("javascript:") for _, attributes in hostile.elements)
    assert hostile.details[0][0]["record"]["name"] in {name, printable(name)}


def test_the_page_holds_all_that_it_shows_and_may_ask_nobody(tmp_path):
    page = read_page(written(a_run(tmp_path, a_fleet(3))))
    assert not [attributes for _, attributes in page.elements if "src" in attributes]
    links = [attributes["href"] for tag, attributes in page.elements if tag in {"a", "link"}]
    assert links
    assert all(link.startswith(("#", "data:,")) for link in links)
    (policy,) = [
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'sha256-" in policy


@pytest.mark.parametrize("name", special_records())
def test_runs_at_the_edge_make_a_page_that_names_no_wrong_figure(tmp_path, name):
    records = special_records()[name]
    page = read_page(written(a_run(tmp_path, records, profiles=name != "old")))
    assert page.volume_ids == [record.volume_id for record in records]
    assert "None" not in page.text
    assert "nan" not in page.text.split()


def test_a_run_that_failed_everywhere_says_so_first_and_why(tmp_path):
    failures = {"targets": {"111111111111/us-east-1": "AccessDenied for ec2:DescribeVolumes."}, "volumes": {}}
    page = read_page(written(a_run(tmp_path, [], status="partial", failures=failures)))
    assert "No volume could be judged: no account could be read." in page.text
    assert "AccessDenied for ec2:DescribeVolumes." in page.text


def test_a_report_on_some_volumes_counts_those_alone(tmp_path):
    fleet = a_fleet(12)
    folder = a_run(tmp_path, fleet, notices={"111111111111/us-east-1": ["a notice of the run"]})
    page = read_page(written(folder, only=lambda record: record.account == "222222222222", about="the second account"))
    assert page.volume_ids == [record.volume_id for record in fleet if record.account == "222222222222"]
    assert "the second account" in page.text
    assert "a notice of the run" not in page.text
    saved = sum(record.monthly_usd_saved for record in fleet if record.account == "222222222222")
    assert saved < sum(record.monthly_usd_saved for record in fleet)


def test_a_damaged_run_leaves_an_earlier_report_as_it_was(tmp_path):
    report = written(a_run(tmp_path, a_fleet(3)))
    before = report.read_bytes()
    with (tmp_path / "recommendations.json").open("rb+") as file:
        file.truncate(600)
    with pytest.raises(BadInput, match="move the folder away"):
        written(tmp_path)
    assert report.read_bytes() == before
    assert not list(tmp_path.glob("report.html.*"))


def test_the_same_run_makes_the_same_bytes(tmp_path):
    folder = a_run(tmp_path, a_fleet(SIZE + 1))
    assert written(folder).read_bytes() == written(folder).read_bytes()


@pytest.mark.release
def test_memory_does_not_grow_with_the_fleet(tmp_path):
    def peak(count):
        folder = a_run(tmp_path / str(count), a_fleet(count))
        return min(taken(folder) for _ in range(3))  # what else this process did meanwhile is no part of it

    def taken(folder):
        tracemalloc.start()
        written(folder)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(SIZE)  # what is read once and kept, such as how pictures are drawn
    assert peak(10 * SIZE) < 1.25 * peak(2 * SIZE)


def test_a_price_that_is_not_known_is_never_zero(tmp_path):
    page = read_page(written(a_run(tmp_path, special_records()["no prices"])))
    assert "no price known" in page.text
    assert "$0.00" not in page.text.split("By account")[0]
    assert page.rows[0]["saved"] == [None, None]


def test_what_is_given_up_beside_iops_and_throughput_is_told(tmp_path):
    record = a_record(losses=[LossRecord(code="durability", now="99.999 %", then="99.8 %")])
    page = read_page(written(a_run(tmp_path, [record])))
    assert page.text.count("gives up durability (99.999 % now, 99.8 % then)") == 1
    assert page.details[0][0]["losses"] == ["durability (99.999 % now, 99.8 % then)"]


def test_the_day_of_a_run_is_that_of_utc_wherever_it_was_made(tmp_path):
    page = read_page(written(a_run(tmp_path, a_fleet(1), now="2027-01-15T01:30:00+09:00")))
    assert "2027-01-14 16:30 UTC" in page.text
    assert f"run {tmp_path.name} , 2027-01-14" in page.text
    assert "2027-01-15" not in page.text


def test_a_blocked_upgrade_names_its_blocker_where_it_is_asked_for(tmp_path):
    blocked = a_record("upgrade", blockers=[BlockerRecord(code="state", text="it is being changed")])
    page = read_page(written(a_run(tmp_path, [blocked])))
    assert "Clear what stands in the way" in page.text
    assert "blocked: it is being changed" in page.text


def test_a_trade_names_what_is_given_up_and_is_not_told_as_proved(tmp_path):
    lost = [LossRecord(code="durability", now="99.999 %", then="99.8 %")]
    record = a_record(losses=lost, cuts=[], monthly_usd_saved=10.0)
    page = read_page(written(a_run(tmp_path, [record])))
    assert "Decide what may be given up" in page.text
    assert "Change what measurements prove" not in page.text
    assert "gives up durability (99.999 % now, 99.8 % then)" in page.text


def test_links_name_a_volume_by_its_place_too(tmp_path):
    record = a_record()
    page = read_page(written(a_run(tmp_path, [record])))
    named = f"#volume={record.account}%2F{record.region}%2F{record.volume_id}"
    links = [attributes.get("href") or "" for _, attributes in page.elements]
    assert any(unquote(link) == unquote(named) for link in links)


@pytest.mark.parametrize(
    ("size_on", "second", "busy"),
    [(SizeOn.AVERAGE, False, False), (SizeOn.PEAK_SECOND, True, False), (SizeOn.BUSY_TIME, True, True)],
)
def test_what_of_a_bucket_sizes_an_offer_is_told(tmp_path, size_on, second, busy):
    text = read_page(written(a_run(tmp_path, [a_record()], policy=Policy(size_on=size_on)))).text
    assert ("A bucket's busiest second sizes it where the cloud publishes that." in text) is second
    assert ("Elsewhere rates over the busy share of a bucket do." in text) is busy
