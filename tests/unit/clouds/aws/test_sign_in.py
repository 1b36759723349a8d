"""Signing in: several accounts at once in a stable order, and a role whose answer has no credentials fails by name."""

import random
import re
import time
import traceback
from xml.etree import ElementTree as ET

import pytest
from botocore.awsrequest import AWSResponse

from plimsoll.clouds.aws import endpoints, lists, sessions
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.model.errors import BadAnswer, BadCredentials, CloudError
from tests.damaged_credentials import answer, credentials, damaged, leaked, parts_of
from tests.profiles import examples
from tests.unit.clouds.aws.border import Body, element

ACCOUNTS = [f"{number:012}" for number in range(1, 10)]


def role(account):
    return Credential(role_arn=f"arn:aws:iam::{account}:role/plimsoll-audit")


def assumed(account):
    keys = {"AccessKeyId": f"AKIA{account}", "SecretAccessKey": "s", "SessionToken": "t"}
    return {"AssumeRoleResult": {"Credentials": {**keys, "Expiration": "2099-01-01T00:00:00Z"}}}


def caller(account):
    return {
        "GetCallerIdentityResult": {
            "Account": account,
            "UserId": "u",
            "Arn": f"arn:aws:sts::{account}:assumed-role/plimsoll-audit/plimsoll",
        }
    }


@pytest.fixture
def sts(monkeypatch):
    """What STS answers, by operation and account; each may be replaced."""
    answers = {"AssumeRole": assumed, "GetCallerIdentity": caller}

    def send(request, event_name, **_more):
        operation = event_name.rsplit(".", 1)[-1]
        if operation == "AssumeRole":
            account = re.search(r"iam%3A%3A(\d{12})", str(request.body)).group(1)
        else:
            known = re.search(rb"AKIA(\d{12})", request.headers["Authorization"])
            account = known.group(1).decode() if known else ACCOUNTS[0]
            time.sleep(0.01 * (len(ACCOUNTS) - int(account)))
        body = answers[operation](account)
        content = body if isinstance(body, bytes) else ET.tostring(element(f"{operation}Response", body))
        return AWSResponse(request.url, 200, {"content-type": "text/xml"}, Body(content))

    opened = sessions._open_session

    def watched(session, **chosen):
        session.get_component("event_emitter").register("before-send", send)
        return opened(session, **chosen)

    monkeypatch.setattr(sessions, "_open_session", watched)
    monkeypatch.setattr(lists, "_PAUSE_S", 0)
    monkeypatch.setattr(endpoints, "_PAUSE_S", 0)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA000000000099")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return answers


def signed_in(accounts):
    entered = Sessions(attempts=1, connections=1)
    entered.sign_in([role(account) for account in accounts])
    return entered


def test_accounts_come_in_the_order_that_they_were_given_in_whichever_answers_first(sts):
    assert list(signed_in(ACCOUNTS).by_account) == ACCOUNTS


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"AssumeRoleResult": {}},
        {"AssumeRoleResult": {"Credentials": {"AccessKeyId": "a"}}},
        {
            "AssumeRoleResult": {
                "Credentials": {**assumed("1")["AssumeRoleResult"]["Credentials"], "Expiration": "soon"}
            }
        },
        b"<html><body>Welcome</body></html>",
        b"<AssumeRoleRes",
        b"",
    ],
)
def test_a_role_whose_answer_has_no_credentials_fails_alone_and_by_name(sts, answer):
    sts["AssumeRole"] = lambda account: answer if account == ACCOUNTS[0] else assumed(account)
    entered = signed_in(ACCOUNTS[:3])
    assert list(entered.by_account) == ACCOUNTS[1:3]
    (failed,) = entered.failed
    assert failed.name == str(role(ACCOUNTS[0]))
    assert isinstance(failed.error, BadCredentials | BadAnswer)


def test_nothing_of_a_damaged_answer_of_sts_is_said_or_kept(sts, caplog):
    rng = random.Random(37)
    for _ in range(examples(150)):
        keys = credentials(rng)
        text = damaged(answer(keys), rng).encode("utf-8", "replace")
        sts["AssumeRole"] = lambda _account, text=text: text
        for one in signed_in(ACCOUNTS[:1]).failed:
            told = f"{one.error} {getattr(one.error, 'raw', '')} {caplog.text} {tracebacks(one.error)}"
            assert not leaked(told, parts_of(keys)), text


def tracebacks(error):
    """What a log shows of an error and of what it came from."""
    return "".join(traceback.format_exception(error))


def test_a_role_whose_first_answer_has_no_credentials_is_asked_again(sts):
    first = [True]

    def once(account):
        if first:
            first.clear()
            return {}
        return assumed(account)

    sts["AssumeRole"] = once
    assert list(signed_in(ACCOUNTS[:1]).by_account) == ACCOUNTS[:1]


@pytest.mark.parametrize("answer", [{}, caller("12"), caller(""), b"<html/>"])
def test_a_caller_without_an_account_fails_by_name(sts, answer):
    sts["GetCallerIdentity"] = lambda _account: answer
    entered = signed_in(ACCOUNTS[:1])
    assert entered.by_account == {}
    assert isinstance(entered.failed[0].error, CloudError)


HOME = "999999999999"


def caller_of(account, arn):
    return {"GetCallerIdentityResult": {"Account": account, "UserId": "u", "Arn": arn}}


OTHERS = {
    "the account is not that of its ARN": caller_of(HOME, f"arn:aws:sts::{ACCOUNTS[0]}:assumed-role/plimsoll-audit/p"),
    "the ARN is not of its account": caller_of(ACCOUNTS[0], f"arn:aws:sts::{HOME}:assumed-role/plimsoll-audit/p"),
    "both are of another account than the role": caller_of(HOME, f"arn:aws:sts::{HOME}:assumed-role/plimsoll-audit/p"),
    "both are those of a role that is entered too": caller(ACCOUNTS[1]),
    "an ARN that is none": caller_of(ACCOUNTS[0], "a"),
    "no ARN": {"GetCallerIdentityResult": {"Account": ACCOUNTS[0], "UserId": "u"}},
    "nested": {"GetCallerIdentityResult": {"Account": [ACCOUNTS[0]], "UserId": "u", "Arn": [["a"]]}},
}


@pytest.mark.parametrize("answer", OTHERS.values(), ids=OTHERS)
def test_a_role_that_seems_to_be_of_another_account_fails_alone_and_by_name(sts, answer):
    sts["GetCallerIdentity"] = lambda account: answer if account == ACCOUNTS[0] else caller(account)
    entered = signed_in(ACCOUNTS[:3])
    assert list(entered.by_account) == ACCOUNTS[1:3]
    assert [one.name for one in entered.failed] == [str(role(ACCOUNTS[0]))]
    assert isinstance(entered.failed[0].error, BadAnswer)


@pytest.mark.parametrize("ends", ["2020-01-01T00:00:00Z", "1970-01-01T00:00:01Z"])
def test_credentials_that_have_expired_on_arrival_fail_alone_and_by_name(sts, ends):
    keys = {**assumed(ACCOUNTS[0])["AssumeRoleResult"]["Credentials"], "Expiration": ends}
    answer = {"AssumeRoleResult": {"Credentials": keys}}
    sts["AssumeRole"] = lambda account: answer if account == ACCOUNTS[0] else assumed(account)
    entered = signed_in(ACCOUNTS[:2])
    assert list(entered.by_account) == ACCOUNTS[1:2]
    assert "expired" in str(entered.failed[0].error)
    assert isinstance(entered.failed[0].error, BadCredentials)


NESTED = [
    {"AssumeRoleResult": [[{"Credentials": "x"}]]},
    {"AssumeRoleResult": {"Credentials": [[{"AccessKeyId": "a"}]]}},
    {"AssumeRoleResult": {"Credentials": {"AccessKeyId": ["a"], "SecretAccessKey": ["s"], "Expiration": ["2099"]}}},
]


@pytest.mark.parametrize("answer", NESTED)
def test_credentials_of_another_shape_fail_by_name(sts, answer):
    sts["AssumeRole"] = lambda _account: answer
    entered = signed_in(ACCOUNTS[:1])
    assert entered.by_account == {}
    assert isinstance(entered.failed[0].error, CloudError)
