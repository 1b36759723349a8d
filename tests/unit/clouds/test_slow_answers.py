"""Answers that never come to an end: named within their time, whether they are silent or drip."""

import re
import socket
import threading
import time

import boto3
import pytest

from plimsoll.clouds.aws import endpoints, lists
from plimsoll.clouds.aws.accounts import open_accounts
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.clouds.common.answers import Deadline, Waits, carry_out_within
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.model.errors import BadCredentials, CloudError, Unreachable
from plimsoll.ports import Target
from plimsoll.settings import Settings
from plimsoll_google.aggregated import disk_pages
from plimsoll_google.clients import Clients
from plimsoll_google.prices import GooglePrices
from tests.builders import NOW

BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 9999\r\n\r\n"
SLOW = {
    "no answer": (b"", b""),
    "its first line drips": (b"HTTP/1.1 20", b"0"),
    "its headers drip": (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"z"),
    "its body drips": (BODY, b"<"),
    "its body drips in chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n<\r\n"),
}
"""What is sent at once, and then again and again."""
HERE = Target(account="111111111111", region="us-east-1")
ANSWER_S = 0.6


@pytest.fixture(params=SLOW)
def slow_port(request):
    """A server that drips in that way, far longer than a test may take."""
    first, then = SLOW[request.param]
    ended = threading.Event()

    def drip(connection):
        with connection:
            connection.recv(65536)
            connection.sendall(first)
            for _ in range(2000):
                if ended.wait(0.05):
                    return
                connection.sendall(then)

    def serve(listening):
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()

    def guarded(connection):
        try:
            drip(connection)
        except OSError:
            return  # the other side has given up

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        yield listening.getsockname()[1]
        ended.set()


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(lists, "_PAUSE_S", 0)
    monkeypatch.setattr(endpoints, "_PAUSE_S", 0)
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(min(seconds, 0.01)))


@pytest.fixture
def at_aws(monkeypatch, slow_port):
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{slow_port}",
        "AWS_ACCESS_KEY_ID": "AKIA",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    return Settings(answer_timeout_s=ANSWER_S, silence_timeout_s=30, max_attempts=2)


ROLE = Credential(role_arn="arn:aws:iam::222222222222:role/plimsoll-audit")


@pytest.mark.parametrize("credential", [Credential(), ROLE], ids=["its own account", "a role"])
def test_an_account_whose_sign_in_drips_is_named(at_aws, credential):
    opened = open_accounts([credential], at_aws)
    assert [one.name for one in opened.failed] == [str(credential)]
    assert isinstance(opened.failed[0].error, Unreachable | BadCredentials)


def test_a_list_that_drips_is_named(at_aws):
    sessions = Sessions(attempts=2, connections=2, waits=Waits.of(at_aws), by_account={HERE.account: boto3.Session()})
    with pytest.raises(CloudError, match=rf"{HERE.account}.*(seconds in all|Read timeout)"):
        list(AwsInventory(sessions=sessions, list_deadline_s=20).volumes(HERE))


def test_a_google_list_that_drips_is_named(slow_port):
    clients = Clients(url=f"http://127.0.0.1:{slow_port}", attempts=2, waits=Waits(answer_s=ANSWER_S))
    with pytest.raises(CloudError, match=r"a-project.*(seconds in all|timed out)"):
        list(disk_pages(clients, "a-project", "a-project", Deadline(seconds=3)))


def test_google_prices_that_drip_are_those_of_the_file_by_name(slow_port):
    clients = Clients(
        url=f"http://127.0.0.1:{slow_port}", attempts=2, waits=Waits(answer_s=ANSWER_S), list_deadline_s=3
    )
    prices = GooglePrices(shipped=shipped_prices("google"), clients=clients, today=NOW.date())
    book = prices.book(Target(account="a-project", region="us-central1", provider="google"))
    assert re.search("seconds in all|timed out", book.notice)


def test_what_ends_in_time_gives_its_result_or_its_own_error():
    assert carry_out_within(30, lambda: 7) == 7

    def fail():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        carry_out_within(30, fail)
    with pytest.raises(TimeoutError, match="in all"):
        carry_out_within(0.05, threading.Event().wait)
