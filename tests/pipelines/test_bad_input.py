"""Whatever goes wrong: a clear sentence, the rest of the audit done, the failure named, and the right exit code."""

import json
from datetime import UTC, datetime

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.running import running

from .commands import REGIONS, TWO_DAYS, plimsoll, roles

pytestmark = pytest.mark.once

DENIED = "111111111111"


def audited(tmp_path, *words, **simulated):
    """An audit of the organization with something wrong: the finished command, run.json and recommendations."""
    with running(datetime.now(UTC), volumes=1, **simulated) as organization:
        done = plimsoll(
            organization, tmp_path, "audit", "--out", "run", *TWO_DAYS, *REGIONS, *roles(organization), *words
        )
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    recommendations = json.loads((tmp_path / "run" / "recommendations.json").read_text(encoding="utf-8"))
    assert run["volumes"]["reconciled"]
    return done, run, recommendations


def test_one_denied_account_of_three_costs_itself_only(tmp_path):
    fault = Fault(code="UnauthorizedOperation", operation="DescribeVolumes", account=DENIED, status=403)
    done, run, recommendations = audited(tmp_path, faults=[fault])
    assert done.returncode == 3
    assert run["status"] == "partial"
    assert set(run["failures"]["targets"]) == {f"{DENIED}/us-east-1", f"{DENIED}/eu-west-1"}
    told = " ".join(done.stdout.split())
    assert f"{DENIED}/us-east-1" in told
    assert f"{DENIED}/eu-west-1" in told
    assert "UnauthorizedOperation for ec2:DescribeVolumes" in told
    assert {found["account"] for found in recommendations} == {"222222222222", "333333333333"}


@pytest.mark.release
def test_denied_metrics_make_named_failures_and_never_idle_volumes(tmp_path):
    fault = Fault(code="AccessDenied", operation="GetMetricData", account=DENIED, status=403)
    done, run, recommendations = audited(tmp_path, faults=[fault])
    assert done.returncode == 3
    assert "AccessDenied for cloudwatch:GetMetricData" in done.stdout
    assert run["volumes"]["failed"] > 20
    assert {found["action"] for found in recommendations if found["account"] == DENIED} <= {"detached"}


@pytest.mark.release
def test_a_region_that_is_switched_off_is_named_and_the_others_are_audited(tmp_path):
    done, run, recommendations = audited(tmp_path, faults=[Fault(code="OptInRequired", region="eu-west-1", status=401)])
    assert done.returncode == 3
    assert "the region is switched off for this account" in done.stdout
    assert {found["region"] for found in recommendations} == {"us-east-1"}
    assert all(name.endswith("eu-west-1") for name in run["failures"]["targets"])


def test_a_clock_an_hour_off_is_told_as_such(tmp_path):
    with running(datetime.now(UTC), volumes=1, clock_offset_s=3600) as organization:
        done = plimsoll(organization, tmp_path, "audit", "--out", "run", *REGIONS, *roles(organization))
    assert done.returncode == 2
    assert "this machine's clock is wrong" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.release
def test_a_role_that_cannot_be_assumed_is_named(tmp_path):
    fault = Fault(code="AccessDenied", operation="AssumeRole", times=1, status=403)
    done, run, _recommendations = audited(tmp_path, faults=[fault])
    assert done.returncode == 3
    assert any("sts:AssumeRole" in reason for reason in run["failures"]["targets"].values())


@pytest.mark.release
def test_throttled_calls_and_broken_answers_are_retried_to_the_same_end(tmp_path):
    fault = Fault(code="ThrottlingException", operation="GetMetricData", times=2)
    broken = Fault(code="InternalError", metric="VolumeReadOps", times=2)
    done, run, _recommendations = audited(tmp_path, faults=[fault, broken])
    assert done.returncode == 3
    assert run["failures"]["targets"] == {}
    assert run["volumes"]["failed"] == 1


@pytest.fixture(scope="module")
def audited_as_it_is(tmp_path_factory):
    return audited(tmp_path_factory.mktemp("audited"))


def test_a_volume_of_an_unknown_type_is_a_named_failure(audited_as_it_is):
    done, run, _recommendations = audited_as_it_is
    assert done.returncode == 3
    (reasons,) = run["failures"]["volumes"].values()
    assert all("gp9 has no published limits" in reason for reason in reasons)


def test_compute_optimizer_automation_is_a_notice(audited_as_it_is):
    done, run, _recommendations = audited_as_it_is
    assert any(place.startswith("222222222222") for place in run["notices"])
    assert "Compute Optimizer Automation is active" in done.stdout


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("audit", "--region", "us-esat-1"), "there is no AWS region us-esat-1: did you mean"),
        (("audit", "--set", "headrom_pct=3"), "no key headrom_pct: did you mean headroom_pct?"),
        (("audit", "--set", "headroom_pct=-3"), "policy key headroom_pct is -3"),
        (("audit", "--region", "us-east-1", "--set", "target_types=gp9"), "gp9, which is no volume type"),
        (("audit", "--set", "require_evidence={migrat: A}"), "no key migrat: did you mean migrate?"),
        (("audit", "--policy", "missing.yaml"), "the policy missing.yaml cannot be read"),
        (("audit", "--prices", "garbled.yaml"), "the price file garbled.yaml is not YAML"),
        (("audit", "--from", "garbled.yaml"), "is not a recording"),
        (("audit", "--resume", "nowhere"), "holds no readable run.json"),
        (("explain", "vol-nowhere", "--region", "eu-west-1"), "there is no volume vol-nowhere"),
        (("envelopes", "show", "gp3-400"), "did you mean gp3-4000-1000?"),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_code_2(organization, tmp_path, words, sentence):
    (tmp_path / "garbled.yaml").write_text("regions: [", encoding="utf-8")
    done = plimsoll(organization, tmp_path, *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_no_credentials_at_all_says_how_to_get_some(organization, tmp_path):
    gone = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none")}
    done = plimsoll(organization, tmp_path, "audit", "--region", "us-east-1", **gone)
    assert done.returncode == 2
    assert "no usable AWS credentials" in done.stderr
    assert "aws sso login" in done.stderr
    assert not (tmp_path / "plimsoll-runs").exists()


def test_an_account_without_volumes_is_an_empty_answer(organization, tmp_path):
    (third,) = [arn for arn in organization.role_arns if "333333333333" in arn]
    done = plimsoll(organization, tmp_path, "explain", "vol-x", "--region", "eu-west-1", "--role-arn", third)
    assert done.returncode == 2
    assert "there is no volume vol-x" in done.stderr
