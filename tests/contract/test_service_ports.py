"""What every implementation of the service's ports promises: a store, claims, history, events and executions."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from plimsoll.clouds.aws.service import BusEvents, DynamoClaims, StepExecutions
from plimsoll.clouds.aws.stores import DynamoHistory, S3Store
from plimsoll.clouds.local_store import FileClaims, FolderStore
from plimsoll.decide.history import HistoryEntry
from plimsoll.model.errors import BadInput, OutOfTime
from plimsoll.model.people import Decision, DecisionKind
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from plimsoll.risk.watch import Promise, Promised, Watch
from tests.in_memory.service import MemoryClaims, MemoryEvents, MemoryExecutions, MemoryHistory
from tests.profiles import PROFILE

from .service_ports import home_account, names

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
HOME = Target(account="111111111111", region="us-east-1")
PLACE = {"account": HOME.account, "region": HOME.region}


@pytest.fixture(scope="module")
def account():
    with home_account() as found:
        yield found


WAS, IS = (VolumeSpec(type="gp3", size_gib=500, iops=iops, throughput_mib_s=125) for iops in (16_000, 5_000))
PROMISE = Promise(before=WAS, target=IS, promised_pct=0.1 + 0.2, minutes=15, days=30, made_s=1_794_009_600)
PROMISED = Promised(
    at_s=1_795_132_800,
    made=PROMISE,
    watch=Watch(promise=PROMISE, spec=IS, changed_s=1_794_009_600, until_s=1_795_046_400, throttled_minutes=16.3),
)


def an_entry(volume_id="vol-1", **changes):
    entry = HistoryEntry(
        **PLACE,
        volume_id=volume_id,
        action="migrate",
        target=VolumeSpec(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125),
        saved_usd_month=0.1 + 0.2,
        first_seen=NOW - timedelta(days=7),
        first_run="run-1",
        last_seen=NOW,
        last_run="run-2",
    )
    return replace(entry, **changes)


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path):
    if request.param == "folder":
        return FolderStore(tmp_path / "store")
    account = request.getfixturevalue("account")
    return S3Store(bucket=account.bucket(), client=account.client("s3"))


def test_what_is_put_is_got_and_the_later_stands(store):
    assert store.get("work/run-1/order.json") is None
    store.put("work/run-1/order.json", b"one")
    store.put("work/run-1/order.json", b"")
    assert store.get("work/run-1/order.json") == b""


def test_keys_are_those_with_the_prefix_in_order_however_many(store):
    count = 1050 if PROFILE == "all" else 25  # S3 lists a thousand a page
    wanted = {f"work/run-1/{number:04}.json" for number in range(count)}
    for key in [*wanted, "work/run-10/order.json", "reports/run-1/run.json"]:
        store.put(key, b"{}")
    assert list(store.keys("work/run-1/")) == sorted(wanted)
    assert list(store.keys("work/run-1")) == sorted([*wanted, "work/run-10/order.json"], key=str.encode)
    assert list(store.keys("nothing/")) == []


def test_sizes_are_the_bytes_that_are_kept(store):
    for key, size in (("work/a", 0), ("work/b/c", 7)):
        store.put(key, b"x" * size)
    assert list(store.sizes("work/")) == [("work/a", 0), ("work/b/c", 7)]


def test_what_is_put_in_pieces_is_one_and_comes_back_in_pieces(store):
    given = [bytes([65 + number % 26]) * (number % 900_001) for number in range(0, 20_000_000, 1_000_003)]
    store.put_pieces("long", given)
    found = list(store.pieces("long"))
    assert len(found) > 1
    assert store.get("long") == b"".join(found) == b"".join(given)
    assert list(store.pieces("nothing")) == []


def test_pieces_that_come_to_an_error_leave_what_was_there(store):
    store.put("kept", b"before")

    def broken():
        yield b"x" * 9_000_000
        raise OutOfTime("no time left")

    with pytest.raises(OutOfTime):
        store.put_pieces("kept", broken())
    assert store.get("kept") == b"before"


def test_what_is_deleted_is_gone_and_may_be_deleted_again(store):
    store.put("a/b", b"x")
    store.delete("a/b")
    store.delete("a/b")
    assert store.get("a/b") is None
    assert list(store.keys("")) == []


def test_files_go_in_and_come_back_whole(store, tmp_path):
    content = bytes(range(256)) * 40_000  # more than one part of an upload
    (tmp_path / "in.parquet").write_bytes(content)
    store.put_file("runs/in.parquet", tmp_path / "in.parquet")
    assert store.get_file("runs/in.parquet", tmp_path / "deep" / "out.parquet")
    assert (tmp_path / "deep" / "out.parquet").read_bytes() == content == store.get("runs/in.parquet")


def test_a_file_that_is_not_kept_leaves_what_was_there(store, tmp_path):
    (tmp_path / "out").write_bytes(b"before")
    assert not store.get_file("nothing", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"before"


@pytest.fixture(params=["memory", "files", "dynamodb"])
def claims(request, tmp_path):
    match request.param:
        case "memory":
            return MemoryClaims()
        case "files":
            return FileClaims(folder=tmp_path / "claims")
    account = request.getfixturevalue("account")
    return DynamoClaims(table=account.table("id"), client=account.client("dynamodb"))


def test_a_key_is_one_holders_until_it_is_released(claims):
    assert claims.holder("audit", NOW) is None
    assert claims.claim("audit", "one", LATER, NOW)
    assert not claims.claim("audit", "other", LATER, NOW)
    assert claims.holder("audit", NOW) == "one"
    assert claims.claim("validation", "other", LATER, NOW)
    claims.release("audit", "one")
    assert claims.holder("audit", NOW) is None
    assert claims.claim("audit", "other", LATER, NOW)


def test_a_holder_may_claim_again_and_holds_longer(claims):
    assert claims.claim("audit", "one", LATER, NOW)
    assert claims.claim("audit", "one", LATER + timedelta(hours=1), NOW)
    assert claims.holder("audit", LATER) == "one"


def test_anothers_claim_stays_when_it_is_released(claims):
    claims.release("audit", "nobody")
    assert claims.claim("audit", "one", LATER, NOW)
    claims.release("audit", "other")
    assert claims.holder("audit", NOW) == "one"


def test_a_claim_ends_with_its_time(claims):
    assert claims.claim("audit", "one", LATER, NOW)
    assert claims.holder("audit", LATER - timedelta(seconds=1)) == "one"
    assert claims.holder("audit", LATER) is None
    assert claims.claim("audit", "other", LATER + timedelta(hours=1), LATER)
    assert claims.holder("audit", LATER) == "other"


@pytest.fixture(params=["memory", "dynamodb"])
def history(request):
    if request.param == "memory":
        return MemoryHistory()
    account = request.getfixturevalue("account")
    return DynamoHistory(table=account.table("place", "volume_id"), client=account.client("dynamodb"))


def test_entries_come_back_exactly_as_they_were_written(history):
    entries = {
        "vol-1": an_entry("vol-1"),
        "vol-2": an_entry("vol-2", target=None, action="keep", saved_usd_month=0.0),
        "vol-3": an_entry("vol-3", target=VolumeSpec(type="st1", size_gib=500), saved_usd_month=-1e-9),
        "vol-4": an_entry(
            "vol-4",
            last_answered=NOW - timedelta(days=7),
            done_on=date(2026, 11, 20),
            done_saved_usd_month=12345.678901234567,
        ),
        "vol-5": an_entry("vol-5", promised=PROMISED),
    }
    history.write(list(entries.values()))
    assert history.entries(HOME, ["vol-3", "vol-1", "vol-unknown", "vol-2", "vol-4", "vol-5", "vol-1"]) == entries


def test_a_later_entry_takes_the_place_of_an_earlier_one_even_of_the_same_call(history):
    history.write([an_entry(last_run="run-2")])
    history.write([an_entry(last_run="run-3"), an_entry(last_run="run-4")])
    assert history.entries(HOME, ["vol-1"])["vol-1"].last_run == "run-4"


def test_a_volume_has_its_entry_in_its_own_place_alone(history):
    elsewhere = replace(HOME, region="eu-west-1")
    history.write([an_entry(), an_entry("vol-2", region="eu-west-1")])
    assert set(history.entries(HOME, ["vol-1", "vol-2"])) == {"vol-1"}
    assert set(history.entries(elsewhere, ["vol-1", "vol-2"])) == {"vol-2"}


def test_there_may_be_more_than_one_call_takes_or_none(history):
    history.write([])
    assert history.entries(HOME, []) == {}
    history.write([an_entry(volume_id) for volume_id in names(230)])
    assert set(history.entries(HOME, names(260))) == set(names(230))


def a_decision(request="asked-1", kind=DecisionKind.SNOOZE, **changes):
    decision = Decision(
        **PLACE, id=request, volume_id="vol-1", kind=kind, by="slack:T024BE7LD/U061F7AUR", at=NOW, reason="läuft aus"
    )
    return replace(decision, **changes)


def test_decisions_come_back_exactly_as_they_were_made_each_request_once(history):
    made = [
        a_decision(until=date(2026, 12, 21)),
        a_decision("asked-2", DecisionKind.EXCLUDE, at=LATER),
        a_decision("asked-3", DecisionKind.INCLUDE, at=LATER, reason=""),
        a_decision("asked-1", DecisionKind.DONE, volume_id="vol-2"),
    ]
    assert [history.decide(one) for one in made] == [True] * 4
    assert not history.decide(a_decision(by="slack:T024BE7LD/U2", at=LATER))
    found = history.decisions(HOME, ["vol-2", "vol-1", "vol-3", "vol-1"])
    assert {name: sorted(said, key=lambda one: one.id) for name, said in found.items()} == {
        "vol-1": made[:3],
        "vol-2": made[3:],
    }
    assert history.decisions(HOME, []) == {}


def test_what_is_decided_while_an_audit_is_under_way_is_not_lost_by_what_it_writes(history):
    history.write([an_entry()])
    prior = history.entries(HOME, ["vol-1"])["vol-1"]
    assert history.decide(a_decision())
    history.write([replace(prior, last_run="run-3")])
    assert history.decisions(HOME, ["vol-1"]) == {"vol-1": [a_decision()]}
    assert history.entries(HOME, ["vol-1"])["vol-1"].last_run == "run-3"
    assert history.decide(a_decision("asked-2"))
    assert history.entries(HOME, ["vol-1"])["vol-1"].last_run == "run-3"


def test_a_decision_is_of_a_volume_in_its_own_place_alone(history):
    assert history.decide(a_decision(region="eu-west-1"))
    assert history.decisions(HOME, ["vol-1"]) == {}


@pytest.fixture(params=["memory", "bus"])
def events(request):
    """The events port, and what was heard of it."""
    if request.param == "memory":
        memory = MemoryEvents()
        return memory, lambda: list(memory.sent)
    account = request.getfixturevalue("account")
    bus, queue = account.bus()
    return BusEvents(bus=bus, client=account.client("events")), lambda: account.heard(queue)


def test_every_event_is_heard_once_however_many(events):
    port, heard = events
    sent = [("RecommendationNew", {"volume_id": volume_id, "saved_usd_month": 1.5}) for volume_id in names(23)]
    port.send([*sent, ("AuditCompleted", {"run_id": "läuft", "failures": None, "targets": [1, 2]})])
    port.send([])
    found = sorted(heard(), key=str)
    assert found == sorted(
        [*sent, ("AuditCompleted", {"run_id": "läuft", "failures": None, "targets": [1, 2]})], key=str
    )


LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["memory", "step-functions"])
def executions(request):
    """The executions port, and what begins one by a name and gives its ARN."""
    if request.param == "memory":
        memory = MemoryExecutions()

        def begin(name):
            arn = f"arn:aws:states:us-east-1:111111111111:execution:audit:{name}"
            memory.running[arn] = NOW + timedelta(seconds=len(memory.running))
            return arn

        return memory, begin
    account = request.getfixturevalue("account")
    machine = account.machine()
    return StepExecutions(client=account.client("stepfunctions")), lambda name: account.start(machine, name)


def test_the_oldest_that_runs_is_in_the_way_of_the_others_and_nothing_in_its_own(executions):
    port, begin = executions
    first = begin("zebra")
    assert port.older(first, LATER) is None
    second, third = begin("ant"), begin("bee")
    assert [port.older(one, LATER) for one in (first, second, third)] == [None, "zebra", "zebra"]


def test_one_that_is_not_listed_yet_gives_way_only_to_those_that_were_begun_before_it(executions):
    port, begin = executions
    unlisted = f"{begin('zebra').rsplit(':', 1)[0]}:late"
    assert port.older(unlisted, NOW - timedelta(days=3650)) is None
    assert port.older(unlisted, LATER) == "zebra"


@pytest.fixture(params=["memory", "step-functions"])
def beginner(request):
    """The executions port of a service with an audit and no validation, and what was begun by name."""
    if request.param == "memory":
        memory = MemoryExecutions(kinds=("audit",))
        return memory, lambda: {name: dict(given) for (_kind, name), given in memory.begun.items()}
    account = request.getfixturevalue("account")
    machine, client = account.machine(), account.client("stepfunctions")

    def begun():
        found = client.list_executions(stateMachineArn=machine)["executions"]
        return {
            one["name"]: json.loads(client.describe_execution(executionArn=one["executionArn"])["input"])
            for one in found
        }

    return StepExecutions(client=client, machines={"audit": machine, "validation": ""}), begun


def test_what_is_begun_has_its_name_and_what_it_was_given_and_is_begun_once(beginner):
    port, begun = beginner
    assert port.begin("audit", "slack-1", {"run_id": "first"})
    assert not port.begin("audit", "slack-1", {"run_id": "first"})
    assert not port.begin("audit", "slack-1", {})
    assert port.begin("audit", "slack-2", {})
    assert begun() == {"slack-1": {"run_id": "first"}, "slack-2": {}}


def test_what_is_not_deployed_is_not_begun_and_says_what_to_do(beginner):
    port, begun = beginner
    with pytest.raises(BadInput, match="this service has no validation: deploy it without with_validation=false"):
        port.begin("validation", "slack-1", {})
    assert begun() == {}
