"""Whatever goes wrong at Google Cloud: a clear sentence, the rest of the audit done, the failure named, exit 3."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.running import running, running_google

from .commands import IN_PART, REGIONS, plimsoll, roles

pytestmark = pytest.mark.once

NOBODY = {"NO_GCE_CHECK": "true", "CLOUDSDK_CONFIG": "/nonexistent", "HOME": "/nonexistent"}
"""No key, no signed-in user, and no machine of Google's to ask for one."""

ONE_DAY = ("--lookback-days", "1")

IN_NO_CLOUD = SimpleNamespace(environment={})


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """An audit of the simulated projects: the finished command, run.json, recommendations and the projects."""
    folder = tmp_path_factory.mktemp("healthy")
    with running_google(datetime.now(UTC), volumes=1) as cloud:
        done = plimsoll(cloud, folder, "audit", "--cloud", "google", *named(cloud.projects), "--out", "run", *ONE_DAY)
    return done, *read(folder), cloud.projects


@pytest.fixture(scope="module")
def struck(tmp_path_factory):
    """Of three projects, one's API is not enabled, and another's metrics may not be read."""
    folder = tmp_path_factory.mktemp("struck")
    faults = [
        Fault(code="SERVICE_DISABLED", account="plimsoll-sim-lab"),
        Fault(code="PERMISSION_DENIED", operation="ListTimeSeries", account="plimsoll-sim-data"),
    ]
    with running_google(datetime.now(UTC), volumes=1, faults=faults) as cloud:
        where = (*named(cloud.projects), "--region", "europe-west1")
        done = plimsoll(cloud, folder, "audit", "--cloud", "google", *where, "--out", "run", *ONE_DAY)
    return done, *read(folder), cloud.projects


@pytest.fixture(scope="module")
def denied(tmp_path_factory):
    """Of two projects, one's disks may not be listed; of the other five days are read."""
    folder = tmp_path_factory.mktemp("denied")
    fault = Fault(code="PERMISSION_DENIED", operation="disks.aggregatedList", account="plimsoll-sim-data")
    projects = ("plimsoll-sim-shop", "plimsoll-sim-data")
    where = ("--cloud", "google", *named(projects), "--region", "us-central1")
    with running_google(datetime.now(UTC), volumes=1, faults=[fault]) as cloud:
        done = plimsoll(cloud, folder, "audit", *where, "--out", "run", "--lookback-days", "5")
    return done, *read(folder), projects


def named(projects):
    return [word for project in projects for word in ("--project", project)]


def read(tmp_path):
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert run["volumes"]["reconciled"]
    return run, json.loads((tmp_path / "run" / "recommendations.json").read_text(encoding="utf-8"))


def test_a_machine_type_that_is_not_in_the_data_is_told_once_and_offers_nothing_else(healthy):
    done, run, recommendations, _ = healthy
    assert done.returncode == 3  # one disk's type is not in the data either
    told = [text for texts in run["notices"].values() for text in texts if "machine types" in text]
    assert len(told) == 1
    assert done.stdout.count("machine types can carry") == 1
    assert recommendations


def test_a_disk_type_that_is_not_in_the_data_costs_its_own_disk_alone(healthy):
    _done, run, recommendations, _ = healthy
    reasons = [reason for found in run["failures"]["volumes"].values() for reason in found]
    assert len(reasons) == 1
    assert "has no published limits in this version" in reasons[0]
    assert len(recommendations) + sum(run["volumes"]["skipped"].values()) + 1 == run["volumes"]["seen"]


def test_a_disk_attached_to_nothing_is_detached_and_costs_no_call_for_metrics(healthy):
    _done, run, recommendations, _ = healthy
    detached = [found for found in recommendations if found["action"] == "detached"]
    assert detached
    assert all(found["hosts"] == [] and found["demand"] is None for found in detached)
    assert run["monthly_usd"]["detached"] > 0


@pytest.mark.release
def test_a_deleted_instance_in_the_metrics_is_told_once_and_its_work_is_its_disks(denied):
    done, run, recommendations, _ = denied
    told = [text for texts in run["notices"].values() for text in texts if "instances that are deleted" in text]
    assert len(told) == 1
    assert done.stdout.count("instances that are deleted") == 1
    moved = [found for found in recommendations if found["owner"]["name"] == "shop/data-postgres-2"]
    assert [found["demand"] is not None for found in moved] == [True]


def test_every_record_names_google_and_one_of_the_projects(healthy):
    _done, run, recommendations, projects = healthy
    assert {found["provider"] for found in recommendations} == {"google"}
    assert {found["account"] for found in recommendations} == set(projects)
    assert list(run["clouds"]) == ["google"]


@pytest.mark.release
def test_a_permission_missing_on_one_project_costs_that_project_only(denied):
    done, run, recommendations, projects = denied
    assert done.returncode == 3
    assert run["status"] == "partial"
    assert all("plimsoll-sim-data" in place for place in run["failures"]["targets"])
    assert "compute.disks.list" in done.stdout
    assert {found["account"] for found in recommendations} == set(projects) - {"plimsoll-sim-data"}


@pytest.mark.release
def test_an_api_that_is_not_enabled_is_named_with_the_line_that_enables_it(struck):
    done, _run, recommendations, projects = struck
    assert done.returncode == 3
    assert "gcloud services enable compute.googleapis.com --project" in done.stdout.replace("\n", " ")
    assert {found["account"] for found in recommendations} == set(projects) - {"plimsoll-sim-lab"}


@pytest.mark.release
def test_metrics_that_may_not_be_read_make_named_failures_and_never_idle_disks(struck):
    done, run, recommendations, _ = struck
    assert done.returncode == 3
    assert "monitoring.timeSeries.list" in done.stdout
    assert run["volumes"]["failed"] > 5
    answered = {found["action"] for found in recommendations if found["account"] == "plimsoll-sim-data"}
    assert answered <= {"detached", "insufficient-data"}  # the latter where no host is known, so that nothing is asked
    assert any(found["demand"] for found in recommendations if found["account"] == "plimsoll-sim-shop")


def test_a_disk_type_that_its_machine_has_no_figures_for_is_told_and_answered(healthy):
    _done, run, recommendations, _ = healthy
    told = [text for texts in run["notices"].values() for text in texts if "a machine carries of" in text]
    assert any("hyperdisk-throughput on c3-standard-22 (1 volume)" in text for text in told)
    (lake,) = [found for found in recommendations if found["name"] == "lake-data"]
    assert lake["demand"] is not None


def test_no_credentials_at_all_says_how_to_get_some(tmp_path):
    done = plimsoll(IN_NO_CLOUD, tmp_path, "audit", "--cloud", "google", "--out", "run", **NOBODY)
    assert done.returncode == 2
    assert "no usable Google credentials" in done.stderr
    assert "gcloud auth application-default login" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "run").exists()


@pytest.mark.release
def test_without_credentials_google_is_told_as_a_failure_and_aws_is_audited_all_the_same(tmp_path):
    with running(datetime.now(UTC), volumes=1) as organization:
        words = ["--cloud", "aws", "--cloud", "google", "--project", "some-project", *REGIONS, *roles(organization)]
        done = plimsoll(organization, tmp_path, "audit", *words, "--out", "run", *ONE_DAY, **NOBODY)
    run, recommendations = read(tmp_path)
    assert done.returncode == 3
    assert "gcloud auth application-default login" in done.stdout.replace("\n", " ")
    assert {found["provider"] for found in recommendations} == {"aws"}
    assert list(run["clouds"]) == ["aws", "google"]


@pytest.mark.release
def test_both_clouds_are_one_run_with_one_report(tmp_path):
    now = datetime.now(UTC)
    with ExitStack() as stack:
        organization = stack.enter_context(running(now, volumes=1))
        cloud = stack.enter_context(running_google(now, volumes=1))
        where = ["--project", "plimsoll-sim-lab", *IN_PART, *roles(organization)]
        words = ["--cloud", "aws", "--cloud", "google", *where]
        done = plimsoll(organization, tmp_path, "audit", *words, "--out", "run", *ONE_DAY, **cloud.environment)
    run, recommendations = read(tmp_path)
    assert {found["provider"] for found in recommendations} == {"aws", "google"}
    assert run["clouds"].keys() == {"aws", "google"}
    assert "In Google Cloud" in done.stdout
    assert "calls of GetMetricData and ListTimeSeries" in " ".join(done.stdout.split())
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--project", "some-project"), "--project is for --cloud google, which is not asked"),
        (("--folder", "123456789012"), "--folder is for --cloud google"),
        (("--cloud", "google", "--profile", "prod"), "--profile is for --cloud aws, which is not asked"),
        (("--cloud", "google", "--organization"), "--organization is for --cloud aws"),
        (("--cloud", "google", "--project", "Shop!"), "Shop! is no id of a Google Cloud project"),
        (
            ("--cloud", "google", "--project", "some-project", "--set", "target_types=gp9"),
            "gp9, which is no volume type",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(tmp_path, words, sentence):
    done = plimsoll(IN_NO_CLOUD, tmp_path, "audit", *words, **NOBODY)
    assert done.returncode == 2
    assert sentence in done.stderr
