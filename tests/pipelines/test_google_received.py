"""What Google does not send is unknown, never zero: each disk is answered as in the undisturbed run, or it is named."""

import json
from datetime import UTC, datetime

import pytest

from plimsoll.model.errors import NothingRead
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from tests.pipelines.in_process import audited_projects
from tests.pipelines.spoiled_projects import SHOP, spoiled

pytestmark = pytest.mark.once

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DISKS, INSTANCES = f"/compute/v1/projects/{SHOP}/aggregated/disks", f"/compute/v1/projects/{SHOP}/aggregated/instances"


def audit(folder, **spoils):
    """run.json, and the recommendations by volume id."""
    with spoiled(NOW, **spoils) as projects:
        run = audited_projects(projects, folder, NOW, Policy(lookback_days=2, risk_pct=ANY_RISK_PCT))
    found = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
    return run, {one["volume_id"]: one for one in found}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The recommendations of a run that nothing disturbs."""
    return audit(tmp_path_factory.mktemp("undisturbed") / "run")[1]


def named(undisturbed, run, found):
    """The names of the disks without an answer, each named with its reason; the law for all the others."""
    said = json.dumps(run["failures"])
    for volume_id, before in undisturbed.items():
        after = found.get(volume_id)
        if after is None:
            assert volume_id in said or before["name"] in said or SHOP in str(run["failures"]["targets"])
        elif after["action"] != "insufficient-data":
            assert (after["action"], after["target"]) == (before["action"], before["target"]), before["name"]
    assert found.keys() <= undisturbed.keys()
    answered = {one for one, after in found.items() if after["action"] != "insufficient-data"}
    return {one["name"] for one in undisturbed.values()} - {undisturbed[one]["name"] for one in answered}


def silence(metric, times=10**9):
    """Answers for a metric without a series."""
    left = iter(range(times))

    def spoil(request, answer):
        if f'/{metric}"' in request.filter and next(left, None) is not None:
            answer.ClearField("time_series")

    return spoil


@pytest.mark.release
@pytest.mark.parametrize("metric", ["write_ops_count", "read_bytes_count", "max_read_ops_count"])
def test_a_metric_that_stays_empty_costs_the_answers_and_changes_none(tmp_path, undisturbed, metric):
    run, found = audit(tmp_path / "run", series=silence(metric))
    lost = named(undisturbed, run, found)
    assert {one["name"] for one in undisturbed.values() if one["action"] in {"migrate", "upgrade", "keep"}} <= lost
    kept = {one["action"] for one in found.values()}
    assert kept <= {"detached", "insufficient-data"}


@pytest.mark.release
def test_a_metric_that_is_empty_once_changes_nothing(tmp_path, undisturbed):
    run, found = audit(tmp_path / "run", series=silence("write_ops_count", times=1))
    assert found == undisturbed
    assert run["failures"]["targets"] == {}


@pytest.mark.release
def test_a_list_of_series_that_is_cut_short_changes_no_answer(tmp_path, undisturbed):
    def spoil(request, answer):
        if '/max_write_bytes_count"' not in request.filter:
            del answer.time_series[len(answer.time_series) // 2 :]

    run, found = audit(tmp_path / "run", series=spoil)
    assert named(undisturbed, run, found)


def without(field, *, only=None):
    """Disks without a field: all of them, or the one of that name."""

    def spoil(path, answer):
        for scope in answer["items"].values() if path == DISKS else ():
            for disk in scope.get("disks", ()):
                if only in {None, disk["name"]}:
                    disk.pop(field, None)
        return answer

    return spoil


def test_disks_without_users_are_never_left_over(tmp_path, undisturbed):
    run, found = audit(tmp_path / "run", answers=without("users"))
    detached = {one["name"] for one in undisturbed.values() if one["action"] == "detached"}
    lost = named(undisturbed, run, found)
    assert detached
    assert {one["name"] for one in found.values() if one["action"] == "detached"} == detached
    assert not lost & detached


@pytest.mark.parametrize(
    "field",
    [
        "selfLink",
        *(pytest.param(field, marks=pytest.mark.release) for field in ("sizeGb", "type", "creationTimestamp")),
    ],
)
def test_a_disk_without_a_field_is_named_and_the_rest_goes_on(tmp_path, undisturbed, field):
    disk = next(one for one in undisturbed.values() if one["action"] == "migrate")
    run, found = audit(tmp_path / "run", answers=without(field, only=disk["name"]))
    lost = named(undisturbed, run, found)
    young = {one["name"] for one in undisturbed.values() if one["action"] == "insufficient-data"}
    beside = {one["name"] for one in undisturbed.values() if one["hosts"] == disk["hosts"]}
    assert disk["name"] in lost <= beside | young


@pytest.mark.parametrize("body", [b"{}", b"[]", b"<html>Sign in</html>"])
@pytest.mark.parametrize("paths", [{DISKS, INSTANCES}, {DISKS}, {INSTANCES}])
def test_lists_that_are_none_are_no_empty_project(tmp_path, body, paths):
    with pytest.raises(NothingRead, match=SHOP):
        audit(tmp_path / "run", answers=lambda path, answer: body if path in paths else answer)


@pytest.mark.release
def test_a_price_catalog_that_is_a_page_of_html_costs_a_notice(tmp_path, undisturbed):
    run, found = audit(
        tmp_path / "run", answers=lambda path, answer: b"<html>Sign in</html>" if path.endswith("/skus") else answer
    )
    assert {one: after["action"] for one, after in found.items()} == {
        one: before["action"] for one, before in undisturbed.items()
    }
    assert any("cloudbilling.skus.list" in text for texts in run["notices"].values() for text in texts)
