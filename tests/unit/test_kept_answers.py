"""Answers that are kept: of bounded length, without secrets, beside the run that they belong to."""

import json
import random

import pytest

from plimsoll import run
from plimsoll.clouds.aws.sessions import Caller
from plimsoll.clouds.common.answers import MOST_RAW_CHARACTERS, bad_answer, raw_text, read_answer
from plimsoll.clouds.common.messages import one_line
from plimsoll.model.errors import AccessDenied, BadAnswer
from plimsoll.outcomes import FailedVolume
from plimsoll.ports import FailedTarget, Target
from plimsoll.run import WRONG_ANSWERS, keep_wrong_answer
from tests.damaged_credentials import answer, credentials, damaged, leaked, parts_of

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


def test_no_part_of_a_secret_is_kept_of_3000_damaged_answers():
    rng = random.Random(37)
    for _ in range(3000):
        keys = credentials(rng)
        text = damaged(answer(keys), rng)
        assert not leaked(raw_text(text), parts_of(keys)), text


def test_a_secret_is_hidden_under_whatever_name_it_stands():
    for seed in range(100):
        keys = credentials(random.Random(seed))
        kept = raw_text(
            {"Tags": [{"Key": "note", "Value": keys["SecretAccessKey"]}], keys["SessionToken"]: "as a name"}
        )
        assert not leaked(kept, parts_of(keys))


@pytest.mark.parametrize(
    "said",
    [
        "Invalid header value b'{0}\\n'",
        "The Canonical String should have been 'x-amz-security-token:{0}'",
        'Further retries may succeed:\nb"<SessionT>{0}',
        "proxy says {0}",
        "Bearer ya29.{0}",
    ],
)
def test_no_sentence_shows_a_secret(said):
    keys = credentials(random.Random(said))
    assert not leaked(one_line(said.format(keys["SessionToken"])), parts_of(keys))


@pytest.mark.parametrize(
    "text",
    [
        "User: arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_ReadOnlyAccess_0123456789abcdef/a@example.org",
        "volume vol-0123456789abcdef0 in us-east-1a, request 0a1b2c3d-0123-4567-89ab-0123456789ab",
        "2026-11-20T09:00:00.000Z gp3 of 500 GiB, InvalidParameterCombination",
    ],
)
def test_what_is_no_secret_is_said_as_it_is(text):
    assert one_line(text) == text


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
    keep_wrong_answer(tmp_path, FailedVolume.from_error(HERE, "vol-1", error))
    keep_wrong_answer(tmp_path, FailedTarget(name="222233334444", error=error))
    assert [one["of"] for one in kept(tmp_path)] == [f"{HERE}/vol-1", "222233334444"]
    assert "vol-1" in kept(tmp_path)[0]["answer"]


def test_no_answer_of_sts_is_kept_or_quoted():
    error = bad_answer("account is missing", {"Account": "x"}, call="sts:GetCallerIdentity", place="here")
    assert error.raw == ""
    with pytest.raises(BadAnswer) as caught:
        read_answer(Caller, {"Account": "of-another"}, call="sts:GetCallerIdentity", place="here")
    assert "of-another" not in str(caught.value)


def test_what_has_no_answer_keeps_none(tmp_path):
    keep_wrong_answer(tmp_path, FailedVolume.from_error(HERE, "vol-1", AccessDenied("no")))
    keep_wrong_answer(tmp_path, FailedTarget(name="x", error=AccessDenied("no")))
    assert kept(tmp_path) == []


def test_a_run_keeps_no_more_than_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MOST_BYTES", 100)
    error = bad_answer("Size is missing", {"VolumeId": "vol-1"}, call="ec2:DescribeVolumes", place="here")
    for _ in range(5):
        keep_wrong_answer(tmp_path, FailedVolume.from_error(HERE, "vol-1", error))
    assert len(kept(tmp_path)) == 1
