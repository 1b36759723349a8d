"""GetMetricData is asked as botocore asks, and decodes to the same by every protocol; what is no answer is an error."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import boto3
import cbor2
import numpy as np
import pytest
from botocore.awsrequest import AWSResponse

from plimsoll.clouds.aws.metric_answers import epoch_s, without_models
from plimsoll.clouds.aws.queries import queries_of
from plimsoll.model.errors import BadAnswer
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from tests.builders import a_volume

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
    hooks = {}
    register = lambda event, hook, unique_id: hooks.update({event: hook})  # noqa: E731  # botocore's signature
    without_models(SimpleNamespace(meta=SimpleNamespace(events=SimpleNamespace(register=register))), "metrics here")
    response, found = {"headers": {"content-type": kind}, "status_code": status, "body": body}, {}
    hooks["before-parse.cloudwatch.GetMetricData"](
        response_dict=response, customized_response_dict=found, operation_model=None
    )
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


def sent(*, alone):
    """The body of a request for two metrics: as botocore writes it where it is left `alone`."""
    session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")
    client, bodies = session.client("cloudwatch"), []
    if not alone:
        without_models(client, "metrics here")

    def answer(request, **_others):
        bodies.append(json.loads(request.body))
        return AWSResponse(request.url, 200, {"content-type": JSON}, SimpleNamespace(stream=lambda: [b"{}"]))

    client.meta.events.register("before-send.cloudwatch.GetMetricData", answer)
    window = Window(start_s=1_700_000_000, end_s=1_700_086_400)
    queries = [*queries_of(0, Ask(volume=a_volume(), look=Look(window=window, period_s=300)))][:2]
    client.get_metric_data(
        MetricDataQueries=[query.asked_as(f"q{number}") for number, query in enumerate(queries)],
        StartTime=datetime.fromtimestamp(window.start_s, UTC),
        EndTime=datetime.fromtimestamp(window.end_s, UTC),
        NextToken='"MetricDataQueries": []',
    )
    return bodies


def test_what_is_asked_is_what_botocore_would_ask():
    assert sent(alone=False) == sent(alone=True)
    assert len(sent(alone=False)[0]["MetricDataQueries"]) == 2
