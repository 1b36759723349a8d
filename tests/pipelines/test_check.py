"""A plan that does what a run of both simulated clouds recommends is as recommended, for every volume of it."""

import json
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running, running_google
from plimsoll.api.checking import check_plan
from plimsoll.model.kinds import CHANGES
from plimsoll.model.policy import Policy
from plimsoll.reports.run_reader import full_name, read_records, stream_profiles
from tests.pipelines.in_process import audited_both

pytestmark = pytest.mark.once

NOW = datetime.now(UTC)
RESOURCES = {
    "aws": ("aws_ebs_volume", ("type", "size", "iops", "throughput"), "id"),
    "google": ("google_compute_disk", ("type", "size", "provisioned_iops", "provisioned_throughput"), "disk_id"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")
    with running(NOW, volumes=60) as organization, running_google(NOW, volumes=60) as projects:
        audited_both(organization, projects, folder, NOW, Policy(lookback_days=2))
    return folder


def values(record, spec, size_gib=None):
    _, keys, id_key = RESOURCES[record.provider]
    figures = (spec.type, size_gib or spec.size_gib, spec.iops, spec.throughput_mib_s)
    return {id_key: record.volume_id, **dict(zip(keys, figures, strict=True))}


def checked(run, tmp_path, pairs):
    """The findings on a plan with these volumes, each before and after, by the volume."""
    changes = [
        {
            "address": f"{RESOURCES[record.provider][0]}.v{place}",
            "type": RESOURCES[record.provider][0],
            "change": {"actions": ["update"], "before": before, "after": after, "after_unknown": {}},
        }
        for place, (record, before, after) in enumerate(pairs)
    ]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"format_version": "1.2", "resource_changes": changes}), encoding="utf-8")
    return {finding.volume: finding for finding in check_plan(plan, run).findings}


def test_a_plan_of_every_recommendation_is_as_recommended(run, tmp_path):
    changed = [record for record in read_records(run) if record.action in CHANGES]
    assert {record.provider for record in changed} == {"aws", "google"}
    pairs = [(record, values(record, record.current), values(record, record.target)) for record in changed]
    findings = checked(run, tmp_path, pairs)
    assert {finding.verdict for finding in findings.values()} == {"as-recommended"}
    assert set(findings) == {full_name(record) for record in changed}


def test_a_plan_that_takes_every_recommendation_back_is_never_fine(run, tmp_path):
    changed = [record for record in read_records(run) if record.action in CHANGES]
    pairs = [(record, values(record, record.target), values(record, record.current)) for record in changed]
    findings = checked(run, tmp_path, pairs)
    assert {finding.verdict for finding in findings.values()} <= {"reverts", "throttles", "unknown"}


def test_a_volume_that_only_grows_never_throttles_and_is_never_passed_over(run, tmp_path):
    records = [record for record in read_records(run) if record.action not in CHANGES]
    pairs = [
        (record, values(record, record.current), values(record, record.current, record.current.size_gib + 1))
        for record in records
    ]
    findings = checked(run, tmp_path, pairs)
    assert len(findings) == len(records)
    assert {finding.verdict for finding in findings.values()} <= {"fine", "unknown"}


def test_the_least_that_is_sold_throttles_where_the_profile_passed_it(run, tmp_path):
    """gp3 of 3,000 IOPS and 125 MiB/s, by the spans of demand.jsonl."""
    profiles = {full_name(profile): profile for profile in stream_profiles(run)}
    records = [record for record in read_records(run) if record.provider == "aws" and full_name(record) in profiles]
    least = {"type": "gp3", "iops": 3000, "throughput": 125}
    pairs = [
        (record, values(record, record.current), {**values(record, record.current), **least}) for record in records
    ]
    findings = checked(run, tmp_path, pairs)
    throttled = 0
    for record in (record for record in records if full_name(record) in findings):
        profile, verdict = profiles[full_name(record)], findings[full_name(record)].verdict
        peaks = [
            [rate for rate in rates if rate is not None] for rates in (profile.peak_iops, profile.peak_throughput_mib_s)
        ]
        passed = any(max(rates, default=0.0) > 1.001 * most for rates, most in zip(peaks, (3000, 125), strict=True))
        if passed and record.action not in {"upgrade"}:
            throttled += verdict == "throttles"
            assert verdict in {"throttles", "as-recommended"}, (record, findings[full_name(record)])
    assert throttled
