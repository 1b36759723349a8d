"""Endpoints: retries that end, services that are left alone, and answers that no parser reads."""

import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from plimsoll.clouds.aws import endpoints, lists
from plimsoll.clouds.aws.endpoints import READINGS, TIME_OUTS, Circuit, CircuitOpenError, limit_retries
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.lists import Asker, Page
from plimsoll.clouds.aws.volume_answers import VolumesPage
from plimsoll.clouds.common.answers import Deadline
from plimsoll.model.errors import CloudError, Endless, Unreachable
from tests.unit.clouds.aws.border import HERE, Account

TIMED_OUT = ReadTimeoutError(endpoint_url="https://ec2.example")


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(lists, "_PAUSE_S", 0)
    monkeypatch.setattr(endpoints, "_PAUSE_S", 0)
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _s: None)


def circuit():
    clock = Clock()
    return Circuit(service="ec2", region="eu-west-1", most=2, rest_s=10, clock=clock), clock


def is_open(one):
    try:
        one.enter()
    except CircuitOpenError:
        return True
    return False


def test_a_service_that_gives_no_answer_is_left_alone_and_then_tried_by_one_call():
    one, clock = circuit()
    one.note_failure(exception=TIMED_OUT)
    assert not is_open(one)
    one.note_failure(exception=EndpointConnectionError(endpoint_url="https://ec2.example"))
    assert is_open(one)
    clock.now = 11
    assert (is_open(one), is_open(one)) == (False, True)
    one.note_answer()
    assert not is_open(one)


def test_what_a_service_refuses_is_an_answer():
    one, _ = circuit()
    for _ in range(5):
        one.note_failure(exception=ResponseParserError("no XML"))
    assert not is_open(one)


def test_a_call_that_is_not_made_is_unreachable_by_name():
    account = Account()
    account.sessions.client("ec2", HERE.account, HERE.region)
    for one in account.sessions._circuits.values():
        for _ in range(one.most):
            one.note_failure(exception=TIMED_OUT)
    sent = len(account.sent)
    with pytest.raises(Unreachable, match="left alone"):
        list(inventory_of(account).volumes(HERE))
    assert len(account.sent) == sent


def inventory_of(account):
    return AwsInventory(sessions=account.sessions)


@pytest.mark.parametrize("error", [TIMED_OUT, ConnectTimeoutError(endpoint_url="https://ec2.example")])
def test_a_call_that_times_out_is_made_twice_however_many_attempts_there_may_be(error):
    account = Account(attempts=9)

    def hang(_operation, _body):
        raise error

    account.spoil = hang
    with pytest.raises(Unreachable):
        list(inventory_of(account).volumes(HERE))
    assert len(account.sent) == TIME_OUTS


def test_nothing_is_tried_again_after_the_deadline():
    account, clock = Account(attempts=9), Clock()
    client = account.sessions.client("ec2", HERE.account, HERE.region)

    def refuse(_operation, _body):
        clock.now += 3
        raise EndpointConnectionError(endpoint_url="https://ec2.example")

    account.spoil = refuse
    with limit_retries(Deadline(seconds=5, clock=clock)), pytest.raises(EndpointConnectionError):
        client.describe_volumes()
    assert len(account.sent) == 2


def test_an_answer_that_no_parser_reads_is_asked_for_again_and_kept():
    account = Account()
    account.spoil = lambda _operation, _body: b"<volumeSet><item><size>many"
    with pytest.raises(CloudError) as raised:
        list(inventory_of(account).volumes(HERE))
    assert len(account.sent) == READINGS
    assert raised.value.raw == "<volumeSet><item><size>many"


def asked(tokens, *, clock=None, seconds=60.0):
    """How many pages a list has whose tokens are these, one an answer."""
    left = iter(tokens)

    def ask(**_request):
        if clock is not None:
            clock.now += 10
        token = next(left)
        return {"NextToken": token} if token else {}

    deadline = Deadline(seconds=seconds, clock=clock) if clock else Deadline(seconds=seconds)
    return sum(1 for _ in Asker(place="here", deadline=deadline).pages(Page, ask, "ec2:DescribeVolumes"))


def test_a_list_ends_with_its_last_page():
    assert asked(["a", "b", None]) == 3
    assert asked([""]) == 1


@pytest.mark.parametrize("tokens", [["a", "a"], ["a", "b", "a"], ["a", "b", "c", "b"]])
def test_a_token_that_comes_twice_ends_the_list_by_name(tokens):
    with pytest.raises(Endless, match="same page twice"):
        asked(tokens)


@pytest.mark.parametrize(("contents", "new"), [("a", 1), ("ab", 2), ("abc", 3)])
def test_pages_that_come_again_under_other_tokens_end_the_list_by_name(contents, new):
    asked_for = []

    def ask(**request):
        asked_for.append(request.get("NextToken"))
        place = (len(asked_for) - 1) % len(contents)
        return {"NextToken": f"token-{len(asked_for)}", "Volumes": [contents[place]]}

    with pytest.raises(Endless, match="same page twice"):
        list(Asker(place="here").pages(VolumesPage, ask, "ec2:DescribeVolumes"))
    assert len(asked_for) == new + lists.MOST_EMPTY


def test_a_list_without_an_end_ends_with_its_deadline():
    with pytest.raises(Endless, match="PLIMSOLL_LIST_DEADLINE_S"):
        asked((str(number) for number in range(10**6)), clock=Clock())
