"""A campaign made of results keeps their figures, and is added whole or not at all."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.evidence import Place, evidence_for
from plimsoll.envelopes.campaigns import HostEntry, load_campaign
from plimsoll.envelopes.fit import fit_envelope
from plimsoll.model.ceiling import Resource
from plimsoll.model.envelope import Admission, BoundBy
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Grade
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.adding import UNKNOWN_TYPE, NewCampaign, add_campaign, to_new_result
from plimsoll_measure.readers.reading import read_output, read_results
from tests.builders import TYPES
from tests.unit.envelopes.measured import a_system
from tests.unit.measure.readers.outputs import OLD_JSON, OLD_SYSBENCH, OLD_TEXT, a_job, a_side, fio_json

SEEDS = Path(__file__).parents[2] / "seeds"
GP3 = VolumeSpec(type="gp3", size_gib=1000, iops=3000, throughput_mib_s=250)
MIXED = fio_json(a_job(options={"rw": "randrw"}, read=a_side(700), write=a_side(300, p99_ns=5_000_000)))
SUMMED = fio_json(a_job(read=a_side(1000, p99_ns=9_000_000)), a_job(read=a_side(3000)))
ARTICLES = {name: (SEEDS / f"{name}-article.txt").read_text(encoding="utf-8") for name in ("000", "001", "002")}
OUTPUTS = {**ARTICLES, "old-json": OLD_JSON, "old-text": OLD_TEXT, "mixed": MIXED, "summed": SUMMED}


def a_campaign(*texts: str, name: str = "mine", **fields) -> NewCampaign:
    results = [to_new_result(one) for text in texts for one in read_results(text, name="out")]
    told = {
        "name": name,
        "title": "A gp3",
        "source": "a test",
        "tool": results[0].result.tool,
        "tool_version": results[0].result.tool_version,
        "measured_on": None,
        "provider": "aws",
        "spec": GP3,
        "results": tuple(results),
    }
    return NewCampaign(**(told | fields))


def added(folder: Path, new: NewCampaign) -> tuple:
    (system,) = load_campaign(add_campaign(folder, new, TYPES)).systems
    return system.measurements


@pytest.mark.parametrize("text", OUTPUTS.values(), ids=OUTPUTS)
def test_a_result_keeps_every_figure_on_its_way_through_the_file(tmp_path, text):
    new = a_campaign(text)
    for one, measurement in zip(new.results, added(tmp_path, new), strict=True):
        result = one.result
        assert (measurement.iops, measurement.throughput_mib_s) == (result.iops, result.throughput_mib_s)
        assert measurement.latency == result.latency
        assert measurement.job == result.job
        assert measurement.device_iops == result.device_iops
        assert (measurement.provenance.tool, measurement.provenance.tool_version) == (result.tool, result.tool_version)


RATES = st.floats(0.01, 1e7, allow_nan=False)
LATENCIES = st.integers(1, 10**12)


@given(reads=RATES, writes=RATES, p99_ns=LATENCIES, block=st.integers(512, 1 << 24))
def test_any_figures_survive_the_file_to_the_digit(tmp_path_factory, reads, writes, p99_ns, block):
    job = a_job(
        options={"rw": "randrw", "bs": str(block)},
        read=a_side(reads, block=block, p99_ns=p99_ns),
        write=a_side(writes, block=block),
    )
    new = a_campaign(fio_json(job))
    (measurement,) = added(tmp_path_factory.mktemp("campaigns"), new)
    assert (measurement.iops, measurement.job.block_kib) == (pytest.approx(reads + writes), block / 1024)
    assert measurement.latency == new.results[0].result.latency
    assert measurement.throughput_mib_s == new.results[0].result.throughput_mib_s


@given(st.text(max_size=20))
def test_any_name_of_a_job_survives_the_file(tmp_path_factory, name):
    new = a_campaign(fio_json(a_job(name), a_job(name)), note=name, title=name)
    assert added(tmp_path_factory.mktemp("campaigns"), new)[0].iops == 2000


def test_a_result_that_was_held_to_a_rate_is_no_maximum(tmp_path):
    side = a_side(3000)
    new = a_campaign(fio_json(a_job(options={"rate_iops": "3000"}, read=side)))
    (system,) = load_campaign(add_campaign(tmp_path, new, TYPES)).systems
    assert system.measurements[0].bound_by is BoundBy.LOAD
    assert "no maximum" in (system.measurements[0].note or "")
    assert fit_envelope(system, TYPES).iops is None
    free = a_campaign(fio_json(a_job(read=side)), name="free")
    assert fit_envelope(load_campaign(add_campaign(tmp_path, free, TYPES)).systems[0], TYPES).iops == 3000


def test_a_cache_that_served_the_reads_is_noticed(tmp_path):
    new = a_campaign(fio_json(a_job(read=a_side(2999)), disk_util=[{"name": "a", "read_ios": 6000, "write_ios": 0}]))
    (system,) = load_campaign(add_campaign(tmp_path, new, TYPES)).systems
    assert "not-the-device" in {one.rule for one in fit_envelope(system, TYPES).measurements[0].rulings}


def test_each_result_has_its_own_day(tmp_path):
    days = [one.provenance.dated for one in added(tmp_path, a_campaign(OLD_TEXT, fio_json(a_job())))]
    assert days == ["2020-12-14", "2026-11-21"]


def test_a_day_that_is_told_stands_over_those_that_are_printed(tmp_path):
    found = added(tmp_path, a_campaign(OLD_TEXT, fio_json(a_job()), measured_on="2024-02"))
    assert {one.provenance.dated for one in found} == {"2024-02"}


def test_a_day_that_nobody_tells_is_absent(tmp_path):
    assert added(tmp_path, a_campaign(OLD_JSON))[0].provenance.measured_on is None


def test_account_and_region_are_only_there_where_they_are_told(tmp_path):
    (nowhere,) = added(tmp_path, a_campaign(MIXED))
    (here,) = added(tmp_path, a_campaign(MIXED, name="here", account="111122223333", region="eu-west-1"))
    assert (nowhere.provenance.account, nowhere.provenance.region) == (None, None)
    assert (here.provenance.account, here.provenance.region) == ("111122223333", "eu-west-1")


def test_a_volume_whose_type_nobody_told_has_no_published_limits(tmp_path):
    new = a_campaign(MIXED, spec=VolumeSpec(type=UNKNOWN_TYPE, size_gib=0))
    (system,) = load_campaign(add_campaign(tmp_path, new, TYPES)).systems
    assert UNKNOWN_TYPE not in TYPES
    assert fit_envelope(system, TYPES).published is None


@pytest.mark.parametrize(
    ("fields", "grade"),
    [
        ({}, Grade.B),
        ({"account": "111122223333", "region": "eu-west-1"}, Grade.A),
        ({"account": "111122223333", "region": "us-east-1"}, Grade.B),
        ({"spec": VolumeSpec(type=UNKNOWN_TYPE, size_gib=0)}, Grade.C),
        ({"spec": VolumeSpec(type="gp3", size_gib=0)}, Grade.C),
    ],
)
def test_what_was_imported_is_measured_here_only_where_somebody_says_so(tmp_path, fields, grade):
    path = add_campaign(tmp_path, a_campaign(MIXED, **fields), TYPES)
    envelopes = [fit_envelope(system, TYPES) for system in load_campaign(path).systems]
    place = Place(
        provider="aws", account="111122223333", region="eu-west-1", today=date(2026, 11, 22), max_age_days=180
    )
    need = {"need_iops": 900, "need_throughput_mib_s": 10}
    assert evidence_for("gp3", TYPES["gp3"].ceiling(GP3), **need, envelopes=envelopes, place=place).grade is grade


def test_profiles_stand_under_their_host(tmp_path):
    output = read_output(OLD_SYSBENCH, name="out")
    new = a_campaign(OLD_SYSBENCH, host=HostEntry(type="r5.large"), profiles=output.profiles * 2)
    told = dict(load_campaign(add_campaign(tmp_path, new, TYPES)).profiles["r5.large"])
    assert told["mutex.job"] == "sysbench mutex run"
    assert told["mutex.events"] == told["mutex-2.events"] == "5"


# ---- what is refused, and that nothing is left


def refused(folder: Path, new: NewCampaign, told: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(BadInput, match=told) as raised:
        add_campaign(folder, new, TYPES)
    assert "\n" not in str(raised.value)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "-x", "a b", "x" * 81, "naïve", "a\n"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path, name):
    refused(tmp_path, a_campaign(MIXED, name=name), "is no name for a campaign")


def test_a_name_that_a_campaign_has_already_is_refused(tmp_path):
    add_campaign(tmp_path, a_campaign(MIXED), TYPES)
    refused(tmp_path, a_campaign(MIXED), "a campaign mine already.*--as")


@pytest.mark.parametrize("name", ["aws-gp2-gp3-2021", "gp2-1tb"])
def test_a_name_that_ships_is_refused(tmp_path, name):
    refused(tmp_path, a_campaign(MIXED, name=name), f"{name} already.*--as")


def test_a_system_that_another_campaign_has_is_refused(tmp_path):
    path = add_campaign(tmp_path, a_campaign(MIXED), TYPES)
    other = path.read_text(encoding="utf-8").replace("campaign: mine", "campaign: other")
    path.rename(tmp_path / "other.yaml").write_text(other, encoding="utf-8")
    refused(tmp_path, a_campaign(MIXED), "an envelope mine already")


@pytest.mark.parametrize("job", [a_job(error=5), a_job(read={}, write={})])
def test_what_is_no_measurement_is_kept_as_rejected_and_takes_nothing_else_with_it(tmp_path, job):
    sound, faulty = added(tmp_path, a_campaign(fio_json(a_job(), job | {"groupid": 1})))
    sound, faulty = fit_envelope(a_system([sound, faulty]), TYPES).measurements
    assert [sound.is_kept_out(side) for side in Resource] == [False, False]
    assert [faulty.admission(side) for side in Resource] == [Admission.REJECTED] * 2


@pytest.mark.parametrize("job", [a_job(error=5), a_job(read={}, write={})])
def test_nothing_but_what_is_no_measurement_is_refused(tmp_path, job):
    refused(tmp_path, a_campaign(fio_json(job)), "no measurement, and nothing was added")


def test_a_profile_without_a_host_is_refused(tmp_path):
    profiles = read_output(OLD_SYSBENCH, name="out").profiles
    refused(tmp_path, a_campaign(OLD_SYSBENCH, profiles=profiles), "--host-type")


def test_a_date_that_is_none_is_refused(tmp_path):
    refused(tmp_path, a_campaign(MIXED, measured_on="last week"), "'last week' is no date.*--measured-on")


def test_what_cannot_be_fitted_is_refused(tmp_path):
    one = a_campaign(MIXED)
    shapeless = replace(one.results[0].result.job, block_kib=0.0)
    result = replace(one.results[0], result=replace(one.results[0].result, job=shapeless))
    refused(tmp_path, replace(one, results=(result,)), "block_kib")


def test_a_campaign_without_results_is_refused(tmp_path):
    refused(tmp_path, replace(a_campaign(MIXED), results=()), "measurements")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(BadInput, match="cannot be written"):
        add_campaign(tmp_path / "file", a_campaign(MIXED), TYPES)
