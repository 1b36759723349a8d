"""Runs from Python: the same answers as in the run's files."""

import json

import pytest

import plimsoll
from plimsoll.model.policy import SizeOn
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run


@pytest.fixture
def folder(tmp_path):
    return a_run(tmp_path / "runs" / "one", [a_record(volume_id="vol-1"), a_record(volume_id="vol-2")])


def test_a_run_gives_the_recommendations_of_its_files(folder):
    run = plimsoll.read_run(folder)
    written = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    assert [one.model_dump(mode="json") for one in run] == written
    assert all(isinstance(one, plimsoll.Recommendation) for one in run)
    assert run.recommendation("vol-2").volume_id == "vol-2"
    assert run.recommendation("vol-3") is None
    assert run.monthly_usd_saved == run.summary["monthly_usd"]["saved"]


def test_the_newest_run_is_read_where_none_is_named(folder, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(folder.parent))
    assert plimsoll.read_run().folder == folder
    assert plimsoll.explain("vol-1").run == folder


def test_a_volume_that_a_run_does_not_have_is_bad_input(folder):
    with pytest.raises(plimsoll.PlimsollError, match="did you mean vol-1"):
        plimsoll.explain("vol-11", folder)


def test_a_run_and_a_fresh_reading_contradict_each_other(folder):
    with pytest.raises(plimsoll.PlimsollError, match="give either a run, or"):
        plimsoll.explain("vol-1", folder, policy={"headroom_pct": 30})


def test_a_resumed_run_takes_no_other_policy(folder):
    with pytest.raises(plimsoll.PlimsollError, match="as it was begun"):
        plimsoll.audit(policy={"headroom_pct": 30}, resume=folder)


@pytest.mark.parametrize(
    "given",
    [{"size_on": "average"}, plimsoll.Policy(size_on=SizeOn.AVERAGE), plimsoll.Policy(size_on="average")],
)
def test_a_policy_is_checked_however_it_is_given(given):
    from plimsoll.policy_file import policy_of  # noqa: PLC0415

    assert policy_of(given).size_on is SizeOn.AVERAGE


def test_a_scope_of_lists_is_one_and_of_a_text_is_none():
    assert plimsoll.Scope(regions=["eu-west-1"]) == plimsoll.Scope(regions=("eu-west-1",))
    with pytest.raises(plimsoll.PlimsollError, match="regions of a scope is 'eu-west-1'"):
        plimsoll.Scope(regions="eu-west-1")
