"""GetMetricData's answers decode to the same whatever the protocol; what is no answer is an error."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import cbor2
import numpy as np
import pytest

from plimsoll.clouds.aws.metric_answers import epoch_s
from plimsoll.clouds.aws.metrics import decode_fast
from plimsoll.domain.errors import BadAnswer

JSON = "application/x-amz-json-1.0"
CBOR = "application/cbor"
ANSWER = {
    "MetricDataResults": [
        {"Id": "q0", "StatusCode": "Complete", "Timestamps": [1_700_000_040, 1_700_000_100], "Values": [1.5, 0.0]},
        {"Id": "q1", "StatusCode": "PartialData", "Timestamps": [], "Values": []},
    ],
    "NextToken": "more",
}
STAMPED = {
    "MetricDataResults": [
        {**one, "Timestamps": [datetime.fromtimestamp(stamp, UTC) for stamp in one["Timestamps"]]}
        for one in ANSWER["MetricDataResults"]
    ],
    "NextToken": "more",
}


def decoded(body, kind, status=200):
    """What the hook makes of an answer: the result it hands over, and the body it leaves to botocore."""
    hooks = []
    register = lambda _event, hook, unique_id: hooks.append(hook)  # noqa: E731  # botocore's signature
    decode_fast(SimpleNamespace(meta=SimpleNamespace(events=SimpleNamespace(register=register))), "metrics here")
    response, found = {"headers": {"content-type": kind}, "status_code": status, "body": body}, {}
    hooks[0](response_dict=response, customized_response_dict=found, operation_model=None)
    return found, response["body"]


def read(found):
    return [
        (one["Id"], one["StatusCode"], list(epoch_s(one["Timestamps"])), one["Values"])
        for one in found["MetricDataResults"]
    ]


@pytest.mark.parametrize(
    ("kind", "body"),
    [(JSON, json.dumps(ANSWER).encode()), (CBOR, cbor2.dumps(ANSWER)), (CBOR, cbor2.dumps(STAMPED))],
    ids=["json", "cbor numbers", "cbor times"],
)
def test_every_protocol_decodes_to_the_same(kind, body):
    found, left = decoded(body, kind)
    assert read(found) == read(ANSWER)
    assert found["NextToken"] == "more"
    assert left != body


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        (JSON, b'{"__type": "ThrottlingException"}', 400),
        (CBOR, cbor2.dumps({"__type": "InternalFailure"}), 500),
        ("text/xml", b"<GetMetricDataResponse/>", 200),
    ],
)
def test_errors_and_other_protocols_are_left_to_botocore(kind, body, status):
    assert decoded(body, kind, status) == ({}, body)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>sign in</html>"),
        ("", b"{}"),
        (JSON, b"{not json"),
        (JSON, b"[1, 2]"),
        (JSON, b"\xff\xfe"),
        (CBOR, cbor2.dumps([1, 2])),
        (CBOR, b""),
        (CBOR, cbor2.dumps(ANSWER)[:-40]),
        (CBOR, b"\xff"),
    ],
)
def test_what_is_no_answer_is_an_error_with_its_place(kind, body):
    with pytest.raises(BadAnswer, match="metrics here"):
        decoded(body, kind)


def test_timestamps_in_either_form_are_epoch_seconds():
    stamps = [1_700_000_040, 1_700_000_100]
    times = [datetime.fromtimestamp(stamp, UTC) for stamp in stamps]
    assert np.array_equal(epoch_s(stamps), epoch_s(times))
    assert epoch_s([]).shape == (0,)
