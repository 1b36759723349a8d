"""What the service's adapters make of answers that are refusals, come in part, or are damaged."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from cloud_simulator.faults import Fault
from plimsoll.clouds.aws.service import BYTES_A_CALL, BusEvents, DynamoClaims, StepExecutions
from plimsoll.clouds.aws.stores import DynamoHistory, S3Store
from plimsoll.clouds.common.calls import SEND_ATTEMPTS, send_all
from plimsoll.model.errors import AccessDenied, BadAnswer, BadInput, CloudError, Throttled, Unexpected
from tests.contract.service_ports import home_account, names
from tests.contract.test_service_ports import HOME, a_decision, an_entry

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MACHINE = "arn:aws:states:us-east-1:111111111111:stateMachine:audit"


class Answering:
    """A client of which each operation is answered by what it is given for it."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    def __getattr__(self, operation):
        def call(**request):
            self.asked.append(request)
            return self.answers[operation](request, len(self.asked))

        return call


@pytest.fixture
def waits():
    return []


def test_what_is_left_is_asked_again_after_longer_waits_until_nothing_is(waits):
    asked = []

    def attempt(items):
        asked.append(list(items))
        return items[1:]

    assert send_all([1, 2, 3], attempt, waits.append) == []
    assert asked == [[1, 2, 3], [2, 3], [3]]
    assert len(waits) == 2
    assert all(0 <= wait <= 0.1 * 2**number for number, wait in enumerate(waits))


def test_attempts_come_to_an_end_without_a_last_wait(waits):
    assert send_all([1], lambda items: items, waits.append) == [1]
    assert len(waits) == SEND_ATTEMPTS - 1
    assert max(waits) <= 5


def test_entries_that_were_not_processed_are_written_and_read_at_last(waits):
    """Each call does the first of its items alone."""
    kept = []

    def write(request, _number):
        first, *rest = request["RequestItems"]["table"]
        kept.append(first["PutRequest"]["Item"])
        return {"UnprocessedItems": {"table": rest} if rest else {}}

    def read(request, _number):
        first, *rest = request["RequestItems"]["table"]["Keys"]
        found = [item for item in kept if item["volume_id"] == first["volume_id"]]
        return {"Responses": {"table": found}, "UnprocessedKeys": {"table": {"Keys": rest}} if rest else {}}

    client = Answering(batch_write_item=write, batch_get_item=read)
    history = DynamoHistory(table="table", client=client, sleep=waits.append)
    entries = {volume_id: an_entry(volume_id) for volume_id in names(5)}
    history.write(list(entries.values()))
    assert history.entries(HOME, names(6)) == entries
    assert len(waits) == 4 + 5


def test_a_table_that_never_processes_ends_as_throttled(waits):
    client = Answering(batch_write_item=lambda request, _number: {"UnprocessedItems": request["RequestItems"]})
    history = DynamoHistory(table="table", client=client, sleep=waits.append)
    with pytest.raises(Throttled, match="the table table did not process 1 items of dynamodb:BatchWriteItem"):
        history.write([an_entry()])


def test_a_damaged_entry_is_named_with_its_remedy():
    item = {"place": {"S": str(HOME)}, "volume_id": {"S": "vol-9"}, "action": {"S": "keep"}}
    client = Answering(batch_get_item=lambda *_: {"Responses": {"table": [item]}, "UnprocessedKeys": {}})
    with pytest.raises(Unexpected, match=r"the entry of vol-9 in 111111111111/us-east-1 of the table table is damaged"):
        DynamoHistory(table="table", client=client).entries(HOME, ["vol-9"])


@pytest.mark.parametrize("said", [{}, {"decisions": {"L": [{"M": {"id": {"S": "asked-1"}}}]}}])
def test_damaged_decisions_are_named_with_their_remedy(said):
    item = {"place": {"S": str(HOME)}, "volume_id": {"S": "vol-9/decisions"}, **said}
    client = Answering(batch_get_item=lambda *_: {"Responses": {"table": [item]}, "UnprocessedKeys": {}})
    with pytest.raises(Unexpected, match=r"the entry of vol-9/decisions in .* is damaged \(.*: field required\)"):
        DynamoHistory(table="table", client=client).decisions(HOME, ["vol-9"])


def test_a_decision_that_cannot_be_kept_says_that_nothing_was_done():
    fault = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "UpdateItem")

    def refuse(*_):
        raise fault

    client = Answering(update_item=refuse)
    client.exceptions = SimpleNamespace(ConditionalCheckFailedException=KeyError)
    with pytest.raises(AccessDenied, match=r"for dynamodb:UpdateItem. Nothing was done"):
        DynamoHistory(table="table", client=client).decide(a_decision())


def test_events_that_fail_alone_are_sent_again_alone(waits):
    taken = []

    def put(request, number):
        fails = [number == 1 and '"n": 1}' in entry["Detail"] for entry in request["Entries"]]
        taken.extend(entry["Detail"] for entry, failed in zip(request["Entries"], fails, strict=True) if not failed)
        return {"Entries": [{"ErrorCode": "InternalFailure"} if failed else {"EventId": "e"} for failed in fails]}

    client = Answering(put_events=put)
    BusEvents(bus="bus", client=client, sleep=waits.append).send([("Kind", {"n": n}) for n in range(12)])
    assert sorted(taken) == sorted(f'{{"n": {n}}}' for n in range(12))
    assert [len(request["Entries"]) for request in client.asked] == [10, 1, 2]


@pytest.mark.parametrize(("code", "error"), [("ThrottlingException", Throttled), ("NoSuchSource", Unexpected)])
def test_an_event_that_is_never_taken_is_an_error_with_the_last_reason(waits, code, error):
    client = Answering(put_events=lambda *_: {"Entries": [{"ErrorCode": code, "ErrorMessage": "no."}]})
    with pytest.raises(error, match=rf"cannot send events to the bus bus: .*{code}") as raised:
        BusEvents(bus="bus", client=client, sleep=waits.append).send([("Kind", {})])
    assert isinstance(raised.value, CloudError)
    assert len(client.asked) == SEND_ATTEMPTS


def test_long_events_go_in_calls_of_their_own():
    client = Answering(put_events=lambda request, _number: {"Entries": [{"EventId": "e"}] * len(request["Entries"])})
    long = {"text": "ü" * (BYTES_A_CALL // 4)}
    BusEvents(bus="bus", client=client).send([("Kind", long)] * 3)
    assert [len(request["Entries"]) for request in client.asked] == [1, 1, 1]


def executions(*running):
    return [{"startDate": start, "name": name, "executionArn": arn(name)} for start, name in running]


def arn(name):
    return f"arn:aws:states:us-east-1:111111111111:execution:audit:{name}"


@pytest.mark.parametrize(
    ("running", "older"),
    [
        ([], None),
        ([(NOW, "mine")], None),
        ([(NOW + timedelta(milliseconds=1), "aaa"), (NOW, "mine")], None),
        ([(NOW, "mine"), (NOW, "aaa")], "aaa"),
        ([(NOW, "mine"), (NOW, "zzz")], None),
        ([(NOW, "mine"), (NOW - timedelta(hours=1), "zzz"), (NOW - timedelta(hours=2), "yyy")], "yyy"),
        ([(NOW - timedelta(milliseconds=1), "zzz")], "zzz"),
        ([(NOW + timedelta(milliseconds=1), "aaa")], None),
    ],
)
def test_the_older_is_the_first_begun_and_of_two_at_once_the_first_by_name(running, older):
    pages = [executions(one) for one in running] or [[]]

    def page(request, _number):
        assert (request["stateMachineArn"], request["statusFilter"]) == (MACHINE, "RUNNING")
        place = int(request.get("nextToken", "0"))
        more = {"nextToken": str(place + 1)} if place + 1 < len(pages) else {}
        return {"executions": pages[place], **more}

    client = Answering(list_executions=page)
    assert StepExecutions(client=client).older(arn("mine"), NOW) == older


@pytest.mark.parametrize(
    "wrong", [{}, {"executions": None}, {"executions": [{"name": "a"}]}, {"executions": [*executions((NOW, "a")), 3]}]
)
def test_a_list_of_executions_that_cannot_be_read_is_an_error(wrong):
    with pytest.raises(BadAnswer, match="states:ListExecutions"):
        StepExecutions(client=Answering(list_executions=lambda *_: wrong)).older(arn("mine"), NOW)


@pytest.mark.parametrize("entries", [None, [], [{}], [{"EventId": "e"}] * 2])
def test_an_answer_that_does_not_say_what_became_of_each_event_is_an_error(waits, entries):
    client = Answering(put_events=lambda *_: {"Entries": entries})
    with pytest.raises(BadAnswer, match="events:PutEvents"):
        BusEvents(bus="bus", client=client, sleep=waits.append).send([("Kind", {})])


@pytest.mark.parametrize(
    "item", [{"holder": {"S": "a"}}, {"holder": {}, "expiration": {"N": "1"}}, {"holder": None}, []]
)
def test_a_claim_that_cannot_be_read_is_an_error(item):
    claims = DynamoClaims(table="t", client=Answering(get_item=lambda *_: {"Item": item}))
    with pytest.raises(BadAnswer, match="dynamodb:GetItem"):
        claims.holder("key", NOW)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"Responses": None},
        {"Responses": {"t": [{"place": {"S": "a"}, "volume_id": {"X": "b"}}]}},
        {"Responses": {"t": [{"place": "a"}]}},
        {"Responses": {"t": []}, "UnprocessedKeys": {"t": {"Keys": 3}}},
    ],
)
def test_items_that_cannot_be_read_are_an_error(answer):
    history = DynamoHistory(table="t", client=Answering(batch_get_item=lambda *_: answer))
    with pytest.raises(BadAnswer, match="dynamodb:BatchGetItem"):
        history.entries(HOME, ["vol-1"])


@pytest.mark.parametrize(
    "page",
    [
        {"KeyCount": 2, "Contents": [{"Key": "a"}]},
        {"KeyCount": 1},
        {"IsTruncated": True, "Contents": [{"Key": "a"}]},
        {"Contents": [{}]},
    ],
)
def test_a_list_of_objects_that_cannot_be_read_is_an_error(page):
    with pytest.raises(BadAnswer, match="s3:ListBucket"):
        list(S3Store(bucket="b", client=Answering(list_objects_v2=lambda *_: page)).keys("prefix"))


@pytest.mark.parametrize("wrong", ["", "mine", MACHINE, "arn:aws:states:us-east-1:1:express:audit:mine:2"])
def test_what_is_no_execution_is_refused(wrong):
    with pytest.raises(BadInput, match="is no ARN of an execution"):
        StepExecutions(client=Answering()).older(wrong, NOW)


@pytest.fixture(scope="module")
def refusing():
    """An account in which the tables and the bucket refuse: whoever asks, or until they are asked less."""
    faults = [
        Fault(code="AccessDeniedException", operation="PutItem"),
        Fault(code="ProvisionedThroughputExceededException", operation="BatchGetItem"),
    ]
    with home_account(faults=faults) as found:
        yield found


def test_refusals_are_told_with_the_place_the_action_and_the_remedy(refusing):
    claims = DynamoClaims(table="coordination", client=refusing.client("dynamodb"))
    with pytest.raises(AccessDenied) as denied:
        claims.claim("audit", "one", NOW, NOW)
    assert str(denied.value) == (
        "cannot claim audit in the table coordination: AccessDeniedException for dynamodb:PutItem. Nothing that needs "
        "it goes on; allow the action to the role of this function; deploying the service again does."
    )
    with pytest.raises(Throttled, match="cannot read from the table history: AWS kept throttling"):
        DynamoHistory(table="history", client=refusing.client("dynamodb")).entries(HOME, ["vol-1"])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda store, path: store.put("key", b""),
        lambda store, path: store.get("key"),
        lambda store, path: list(store.keys("key")),
        lambda store, path: store.delete("key"),
        lambda store, path: store.put_file("key", path),
        lambda store, path: store.get_file("key", path),
    ],
    ids=["put", "get", "keys", "delete", "put_file", "get_file"],
)
def test_a_bucket_that_is_gone_is_told_as_such_and_never_as_an_empty_one(refusing, tmp_path, attempt):
    (tmp_path / "file").write_bytes(b"before")
    store = S3Store(bucket="gone-forever", client=refusing.client("s3"))
    with pytest.raises(CloudError, match=r"s3://gone-forever/key: NoSuchBucket: .*\. Check the name of the bucket\."):
        attempt(store, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"before"


def test_what_is_deleted_meanwhile_is_told_with_its_table(refusing):
    claims = DynamoClaims(table="gone", client=refusing.client("dynamodb"))
    with pytest.raises(CloudError, match=r"cannot look up audit in the table gone: ResourceNotFoundException"):
        claims.holder("audit", NOW)


def test_a_stream_that_breaks_leaves_the_file_as_it_was(tmp_path):
    class Broken:
        def read(self, _size=-1):
            raise ClientError({"Error": {"Code": "RequestTimeout", "Message": ""}}, "GetObject")

    (tmp_path / "file").write_bytes(b"before")
    store = S3Store(bucket="bucket", client=Answering(get_object=lambda *_: {"Body": Broken()}))
    with pytest.raises(Unexpected, match="RequestTimeout"):
        store.get_file("key", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
