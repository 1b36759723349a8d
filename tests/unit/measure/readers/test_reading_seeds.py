"""The seeds' whole articles, prose and prompts included, are read to the digit of the campaigns written from them."""

from functools import cache
from pathlib import Path

import pytest

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.envelopes.campaigns import Campaign
from plimsoll.envelopes.printed import flat
from plimsoll.model.envelope import Measurement
from plimsoll_measure.readers.reading import read_output, read_results

SEEDS = Path(__file__).parents[3] / "seeds"
CAMPAIGNS = {"000": "aws-gp2-gp3-2021", "001": "naver-block-nas-2022", "002": "aws-io1-graviton2-sysbench"}
FILES = ["000-article", "001-article", "002-article", "000-fio", "001-fio"]


def text_of(name: str) -> str:
    return (SEEDS / f"{name}.txt").read_text(encoding="utf-8")


def campaign_of(name: str) -> Campaign:
    return next(one for one in envelope_library(None).campaigns if one.name == CAMPAIGNS[name[:3]])


def measurements_of(name: str) -> list[Measurement]:
    return [one for system in campaign_of(name).systems for one in system.measurements]


@cache
def results_of(name: str):
    return read_results(text_of(name), name=name)


def printed(result) -> dict[str, str]:
    headline = {"iops": result.printed.iops, "throughput": result.printed.throughput}
    return {key: text for key, text in headline.items() if text} | dict(flat(result.printed.figures))


def pairs() -> list:
    """Each result with the measurement of its campaign that was printed alike."""
    return [pytest.param(name, at, id=f"{name}-{at}") for name in FILES for at in range(len(results_of(name)))]


def twin_of(name: str, at: int) -> tuple:
    """A result, and the measurement that somebody wrote down from it: of the same mode and rates."""
    result = results_of(name)[at]
    alike = [
        one
        for one in measurements_of(name)
        if (one.job.mode, one.iops, one.throughput_mib_s) == (result.job.mode, result.iops, result.throughput_mib_s)
        and one.latency.mean_us == result.latency.mean_us
    ]
    assert len(alike) == 1, f"{result.name}: {len(alike)} measurements alike"
    return result, alike[0]


@pytest.mark.parametrize("name", FILES)
def test_an_article_holds_as_many_results_as_were_written_down_from_it(name):
    assert len(results_of(name)) == len(measurements_of(name)) == {"000": 4, "001": 9, "002": 4}[name[:3]]


@pytest.mark.parametrize(("name", "at"), pairs())
def test_every_figure_is_the_campaigns_to_the_digit_and_there_is_no_other(name, at):
    result, measurement = twin_of(name, at)
    assert printed(result) == dict(measurement.printed)


@pytest.mark.parametrize(("name", "at"), pairs())
def test_what_is_computed_with_is_the_campaigns(name, at):
    result, measurement = twin_of(name, at)
    assert result.latency == measurement.latency
    assert result.device_iops == measurement.device_iops
    assert result.fault is None


@pytest.mark.parametrize(("name", "at"), pairs())
def test_the_job_is_the_campaigns(name, at):
    result, measurement = twin_of(name, at)
    told = measurement.job
    assert (result.job.mode, result.job.block_kib, result.job.jobs) == (told.mode, told.block_kib, told.jobs)
    assert (result.job.engine, result.job.runtime_s) == (told.engine, told.runtime_s)
    assert result.job.file_size_gib == told.file_size_gib
    assert result.job.iodepth == told.iodepth


@pytest.mark.parametrize("name", [name for name in FILES if name != "000-fio"])
def test_the_tools_version_is_the_campaigns(name):
    assert {one.tool_version for one in results_of(name)} == {
        one.provenance.tool_version for one in measurements_of(name)
    }


def test_a_direction_that_did_nothing_is_absent_and_not_zero():
    rewriting = [one for one in results_of("002-article") if one.job.mode == "seqrewr"]
    assert [list(one.directions) for one in rewriting] == [["write"], ["write"]]
    assert [one.iops for one in rewriting] == [one.directions["write"].iops for one in rewriting]


def test_operations_are_those_that_fio_counted():
    assert results_of("000-article")[0].directions["read"].operations == 544_207
    assert results_of("000-article")[2].directions["write"].operations == 536_584


def test_the_day_is_the_one_that_fio_printed():
    assert results_of("001-article")[0].measured_on == "Thu Dec 22 16:39:27 2022"


KINDS = ["cpu", "cpu", "memory", "memory", "mutex", "mutex"]
HOSTS = ["r6g.4xlarge", "r5.4xlarge"] * 3


@pytest.mark.parametrize("at", range(6))
def test_the_tests_of_a_host_are_profiles_to_the_digit(at):
    found = read_output(text_of("002-article"), name="002").profiles
    assert [one.kind for one in found] == KINDS
    told = dict(campaign_of("002").profiles[HOSTS[at]])
    mine = {key.removeprefix(f"{KINDS[at]}."): text for key, text in told.items() if key.startswith(f"{KINDS[at]}.")}
    of_the_prose = {"threads_32_time_elapsed_s"}
    assert {"job": found[at].job, **dict(flat(found[at].figures))} == {
        key: text for key, text in mine.items() if key not in of_the_prose
    }
