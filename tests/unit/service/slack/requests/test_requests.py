"""What is asked of a request before it is believed: that it was signed as it is, just now, and never came before."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plimsoll_service.slack.requests.signed import (
    MOST_BODY_BYTES,
    HttpRequest,
    Refused,
    check_replay,
    check_shape,
    check_signature,
)
from tests.in_memory.service import MemoryClaims
from tests.slack.signing import SIGNING_SECRET, signature_of

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
BODY = b"payload=%7B%22type%22%3A%22block_actions%22%7D"


def a_request(body=BODY, at=NOW, **headers):
    timestamp = str(int(at.timestamp()))
    signed = {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature_of(body, timestamp)}
    return HttpRequest(method="POST", headers=signed | headers, body=body)


def taken(request, now=NOW):
    check_shape(request)
    check_signature(request, SIGNING_SECRET, now)


def test_what_slack_signed_is_taken():
    taken(a_request())
    taken(a_request("text=größer &<>`".encode()))
    taken(a_request(b"x" * MOST_BODY_BYTES))


@given(place=st.integers(0, len(BODY) - 1), byte=st.integers(0, 255))
def test_a_body_with_any_byte_changed_is_refused(place, byte):
    assume(BODY[place] != byte)
    request = a_request()
    changed = BODY[:place] + bytes([byte]) + BODY[place + 1 :]
    with pytest.raises(Refused) as refused:
        taken(HttpRequest(method="POST", headers=request.headers, body=changed))
    assert refused.value.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.BAD_REQUEST}


@given(
    name=st.sampled_from(["x-slack-request-timestamp", "x-slack-signature"]),
    place=st.integers(0, 68),
    letter=st.characters(codec="utf-8"),
)
def test_a_timestamp_or_a_signature_with_any_letter_changed_is_refused(name, place, letter):
    headers = dict(a_request().headers)
    was = headers[name]
    place %= len(was)
    assume(was[place] != letter)
    headers[name] = was[:place] + letter + was[place + 1 :]
    with pytest.raises(Refused) as refused:
        taken(HttpRequest(method="POST", headers=headers, body=BODY))
    assert refused.value.status == HTTPStatus.UNAUTHORIZED


@given(body=st.binary(max_size=200), timestamp=st.text(max_size=15), signature=st.text(max_size=70))
def test_what_nobody_signed_is_refused_whatever_it_is(body, timestamp, signature):
    headers = {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature}
    with pytest.raises(Refused):
        taken(HttpRequest(method="POST", headers=headers, body=body))


@pytest.mark.parametrize(("age_s", "fresh"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)])
def test_a_request_is_taken_for_five_minutes_and_no_longer(age_s, fresh):
    request = a_request(at=NOW - timedelta(seconds=age_s))
    if fresh:
        taken(request)
    else:
        with pytest.raises(Refused, match="too old"):
            taken(request)


def test_a_request_is_taken_once_for_as_long_as_its_timestamp_is_taken_at_all():
    claims, first = MemoryClaims(), NOW - timedelta(minutes=5)
    early = a_request(at=NOW)
    check_replay(early, claims, first)
    for later in range(0, 601, 60):
        with pytest.raises(Refused) as refused:
            check_replay(early, claims, first + timedelta(seconds=later) - timedelta(milliseconds=1))
        assert refused.value.status == HTTPStatus.CONFLICT
    with pytest.raises(Refused, match="old"):
        check_signature(early, SIGNING_SECRET, first + timedelta(minutes=10, seconds=1))


def test_what_came_at_the_first_moment_is_remembered_to_the_last_at_which_it_would_be_taken():
    claims, first, last = MemoryClaims(), NOW - timedelta(minutes=5), NOW + timedelta(minutes=5)
    taken(a_request(), first)
    check_replay(a_request(), claims, first)
    taken(a_request(), last)
    with pytest.raises(Refused, match="came before"):
        check_replay(a_request(), claims, last)


def test_signatures_are_remembered_by_their_digests_alone():
    claims, request = MemoryClaims(), a_request()
    check_replay(request, claims, NOW)
    check_replay(a_request(b"another=1"), claims, NOW)
    assert len(claims.held) == 2
    assert not any(request.signature.removeprefix("v0=") in key for key in claims.held)


def test_what_is_too_long_is_refused_before_anything_is_computed_of_it():
    with pytest.raises(Refused) as refused:
        check_shape(HttpRequest(method="POST", headers={}, body=b"x" * (MOST_BODY_BYTES + 1)))
    assert refused.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_a_look_at_the_certificate_is_told_from_everything_else():
    assert HttpRequest(method="GET", headers={}, query="ssl_check=1&token=x").is_ssl_check
    assert not HttpRequest(method="GET", headers={}, query="ssl_check=2").is_ssl_check
    assert not HttpRequest(method="POST", headers={}, query="ssl_check=1").is_ssl_check
