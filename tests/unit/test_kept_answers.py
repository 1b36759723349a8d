"""Answers that are kept: of bounded length, without secrets, beside the run that they belong to."""

import json

import pytest

from plimsoll import run
from plimsoll.clouds.common.answers import MOST_RAW_CHARACTERS, bad_answer, raw_text
from plimsoll.domain.errors import AccessDenied
from plimsoll.outcomes import FailedVolume
from plimsoll.ports import FailedTarget, Target
from plimsoll.run import WRONG_ANSWERS, keep_wrong_answer

HERE = Target(account="111122223333", region="eu-west-1")
KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    "raw",
    [
        {"Credentials": {"SecretAccessKey": KEY, "SessionToken": KEY}},
        {"a": [{"secretAccessKey": KEY}]},
        f"<AssumeRoleResult><Credentials><SecretAccessKey>{KEY}</SecretAccessKey><SessionTo",
        f"<AssumeRoleResult><Credentials><SecretAccessKey>{KEY}",
        f'{{"SecretAccessKey" : "{KEY}", "Expiration": 3',
        f"Authorization: {KEY}\nx-amz-security-token={KEY}",
    ],
)
def test_no_secret_is_kept_whether_or_not_its_answer_can_be_read(raw):
    assert KEY not in raw_text(raw)
    assert "(hidden)" in raw_text(raw)


@pytest.mark.parametrize("raw", ["x" * 10**6, {"Volumes": ["x" * 1000] * 1000}])
def test_what_is_kept_is_bounded(raw):
    assert len(raw_text(raw)) < MOST_RAW_CHARACTERS + 100


def kept(folder):
    path = folder / WRONG_ANSWERS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def test_a_wrong_answer_is_kept_with_what_it_costs(tmp_path):
    error = bad_answer(
        "Size is missing", {"VolumeId": "vol-1", "Name": "\udc80"}, call="ec2:DescribeVolumes", place="here"
    )
    keep_wrong_answer(tmp_path, FailedVolume.of(HERE, "vol-1", error))
    keep_wrong_answer(tmp_path, FailedTarget(name="222233334444", error=error))
    assert [one["of"] for one in kept(tmp_path)] == [f"{HERE}/vol-1", "222233334444"]
    assert "vol-1" in kept(tmp_path)[0]["answer"]


def test_what_has_no_answer_keeps_none(tmp_path):
    keep_wrong_answer(tmp_path, FailedVolume.of(HERE, "vol-1", AccessDenied("no")))
    keep_wrong_answer(tmp_path, FailedTarget(name="x", error=AccessDenied("no")))
    assert kept(tmp_path) == []


def test_a_run_keeps_no_more_than_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MOST_BYTES", 100)
    error = bad_answer("Size is missing", {"VolumeId": "vol-1"}, call="ec2:DescribeVolumes", place="here")
    for _ in range(5):
        keep_wrong_answer(tmp_path, FailedVolume.of(HERE, "vol-1", error))
    assert len(kept(tmp_path)) == 1
