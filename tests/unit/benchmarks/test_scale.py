"""What `make scale` rests on: the state machine's interpreter, the bucket on disk, and the copies of accounts."""

import json
from collections import Counter

import pytest
from werkzeug.wrappers import Request

from benchmarks.scale.fleet import TARGET_VOLUMES, account_of, accounts_of
from benchmarks.scale.machine import Failed, Machine
from benchmarks.scale.objects import Objects
from benchmarks.scale.page import text_of
from benchmarks.scale.recorded import Recorded
from plimsoll.files import CHECKSUMS, is_as_written, note_checksums, parse_json, unseal
from plimsoll.reports.run_files import DEMAND, RUN
from plimsoll.reports.run_folder import write_run

TASK = {"Type": "Task", "Parameters": {"FunctionName": "f", "Payload": {"item.$": "$.item", "all": "x"}}}
RETRY = [{"ErrorEquals": ["Busy"], "MaxAttempts": 2}]
CATCH = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Note"}]
NOTE = {"Type": "Task", "Parameters": {"FunctionName": "note", "Payload": {"why.$": "$.error.Error"}}, "End": True}


def over(items, states, **more):
    """A machine with a map over items, and what its functions were told."""
    each = {
        "Type": "Map",
        "ItemReader": {"Parameters": {"Key.$": "$.key"}},
        "ItemSelector": {"item.$": "$$.Map.Item.Value"},
        "ItemProcessor": {"StartAt": "Do", "States": states},
        "MaxConcurrency": 2,
        "Next": "Done",
        **more,
    }
    told = []

    def invoke(name, event):
        told.append((name, event))
        if name == "f" and event["item"]["fails"] >= Counter(str(one) for one in told)[str((name, event))]:
            raise Failed("Busy", "not now")
        return {"left": 0}

    machine = Machine(
        definition={"StartAt": "Each", "States": {"Each": each, "Done": {"Type": "Succeed"}}},
        invoke=invoke,
        content=lambda key: json.dumps(items if key == "items.json" else []).encode(),
        execution={"Input": {"key": "items.json"}},
        at_once=2,
    )
    return machine, told


def test_an_item_is_tried_again_and_what_fails_for_good_is_noted():
    machine, told = over(
        [{"fails": 0}, {"fails": 2}, {"fails": 9}],
        {"Do": {**TASK, "Retry": RETRY, "Catch": CATCH, "End": True}, "Note": NOTE},
    )
    assert machine.run() == {"key": "items.json"}
    calls = Counter(event["item"]["fails"] for name, event in told if name == "f")
    assert calls == {0: 1, 2: 3, 9: 3}
    assert [event for name, event in told if name == "note"] == [{"why": "Busy"}]
    assert (machine.retried.total(), machine.caught.total()) == (4, 1)


@pytest.mark.parametrize(("tolerated", "ends"), [(0, False), (40, False), (50, True)])
def test_a_map_fails_with_more_items_than_it_tolerates(tolerated, ends):
    items = [{"fails": 0}, {"fails": 9}]
    machine, _ = over(items, {"Do": {**TASK, "End": True}}, ToleratedFailurePercentage=tolerated)
    if ends:
        machine.run()
    else:
        with pytest.raises(Failed, match="1 of 2 items failed"):
            machine.run()


def test_answers_are_put_where_the_states_say_and_choices_follow_them():
    states = {
        "Ask": {**TASK, "ResultSelector": {"left.$": "$.Payload.left"}, "ResultPath": "$.answer", "Next": "Any"},
        "Any": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.answer.left", "NumericGreaterThan": 0, "Next": "Ask"}],
            "Default": "End",
        },
        "End": {"Type": "Pass", "End": True},
    }
    left = iter([2, 1, 0])
    machine = Machine(
        definition={"StartAt": "Ask", "States": states},
        invoke=lambda _name, _event: {"left": next(left), "more": 1},
        content=lambda _key: b"",
        execution={"Input": {"item": 1}},
        at_once=1,
    )
    assert machine.run() == {"item": 1, "answer": {"left": 0}}
    assert machine.entered["Ask"] == 3


def asked(objects, method, url, body=b""):
    return objects.answer(Request.from_values(url, method=method), body)


def test_the_bucket_lists_in_order_page_by_page_and_reads_what_was_put_in_parts(tmp_path):
    objects = Objects(tmp_path)
    for number in range(1005):
        objects.keep(f"a/{number:04d}", b"x")
    objects.keep("b", b"other")
    first = asked(objects, "GET", "/bucket?list-type=2&prefix=a/").get_data(as_text=True)
    assert (first.count("<Key>"), "<KeyCount>1000<" in first, "<IsTruncated>true<" in first) == (1000, True, True)
    rest = asked(objects, "GET", "/bucket?list-type=2&prefix=a/&continuation-token=a/0999").get_data(as_text=True)
    assert rest.count("<Key>") == 5
    upload = asked(objects, "POST", "/bucket/c?uploads").get_data(as_text=True).split("UploadId>")[1][:-2]
    for number, part in ((2, b"two"), (1, b"one-")):
        asked(objects, "PUT", f"/bucket/c?partNumber={number}&uploadId={upload}", part)
    asked(objects, "POST", f"/bucket/c?uploadId={upload}")
    assert objects.content("c") == b"one-two"
    asked(objects, "DELETE", "/bucket/c")
    assert asked(objects, "GET", "/bucket/c").status_code == 404


def test_a_copied_account_has_what_was_kept_of_the_first_under_ids_of_its_own(tmp_path):
    objects, called = Objects(tmp_path), []
    first, fourth = account_of(0), account_of(3)

    def audit(event):
        called.append(event)
        for one in event["lot"]["batches"]:
            place = f"work/r/results/{one['account']}/{one['region']}/00000"
            objects.keep(f"{place}/result.json", b"{}")
            objects.keep(f"{place}/x/rows", f"{one['account']} vol-{7:017x} i-{8:017x} eni-{9:017x}".encode())
        return {"left": 0}

    copies = Recorded(objects=objects, inventory=audit, audit=audit, accounts=1)
    batches = [{"account": account, "region": "us-east-1", "batch": 0} for account in (fourth, first)]
    assert copies.answer({"run_id": "r", "lot": {"batches": batches, "sharing": 1}}) == {"left": 0}
    assert [one["lot"]["batches"] for one in called] == [[{"account": first, "region": "us-east-1", "batch": 0}]]
    further = 3 * 4 * TARGET_VOLUMES
    written = objects.content(f"work/r/results/{fourth}/us-east-1/00000/x/rows").decode()
    assert written == f"{fourth} vol-{7 + further:017x} i-{8 + further:017x} eni-{9:017x}"
    assert copies.volumes == TARGET_VOLUMES


def test_a_copied_run_is_read_as_the_one_that_was_written(tmp_path):
    objects, (first, second) = Objects(tmp_path / "bucket"), (account_of(0), account_of(1))
    written, copied = tmp_path / "written", tmp_path / "copied"
    for folder in (objects.folder, written, copied):
        folder.mkdir()

    def audit(event):
        write_run(written, {"account": first})
        (written / DEMAND).write_text(f"{first} vol-{7:017x}")
        note_checksums(written, [DEMAND])
        for file in written.iterdir():
            objects.keep(f"work/r/results/{first}/us-east-1/0/batch/{file.name}", file.read_bytes())
        return {"left": 0}

    copies = Recorded(objects=objects, inventory=audit, audit=audit, accounts=1)
    batches = [{"account": second, "region": "us-east-1", "batch": 0}]
    copies.answer({"run_id": "r", "lot": {"batches": batches, "sharing": 1}})
    for name in (RUN, DEMAND, CHECKSUMS):
        (copied / name).write_bytes(objects.content(f"work/r/results/{second}/us-east-1/0/batch/{name}"))
    assert (copied / DEMAND).read_text().startswith(second)
    assert is_as_written(copied / DEMAND)
    assert unseal(parse_json((copied / RUN).read_text())) == {"account": second}


def test_the_whole_organization_has_seventeen_thousand_targets_and_a_million_volumes():
    targets = 4 * len(accounts_of(1.0))
    assert (targets, targets * TARGET_VOLUMES) == (17_000, 1_003_000)


def test_the_page_shows_each_step_s_share_of_its_limits_and_how_it_grows():
    def run(volumes, cpu_s, *, called=None, name="combine"):
        spent = {"invocations": 2, "peak_mib": 100.4, "tmp_mib": 1.0, "longest_s": 3.0, "cpu_s": cpu_s}
        step = {
            "name": name,
            "memory_mib": 3072,
            "timeout_s": 900,
            "disk_mib": 4096,
            "spent": spent,
            "calls": {},
            "usd": {"S3": 0.25},
        }
        known = {"date": "2026-11-23", "commit": "abc", "machine": "m", "groups": "v1", "targets": 4, "seconds": 60.0}
        return {
            **known,
            "volumes": volumes,
            "called": called or volumes,
            "transitions": 0,
            "retried": {},
            "caught": {},
            "steps": [step],
        }

    told = text_of([run(100, 1.0), run(1000, 20.0)])
    assert "| `combine` | 2 | 100 of 3,072 | 1 of 4,096 | 3.0 of 900 | 20.0 | 0 | 0.2500 |" in told
    assert "At 100 and 1,000 volumes, ms of CPU a volume: `combine` 10.000, 20.000. MiB: `combine` 100, 100." in told
    assert "arithmetic" not in told
    assert "(arithmetic), USD: S3 2.50, Step Functions 0.00." in text_of(
        [run(1000, 1.0, called=100, name="audit_batch")]
    )
    assert "(arithmetic), USD: S3 0.25, Step Functions 0.00." in text_of([run(1000, 1.0, called=100)])
