"""A batch is audited once, in as many attempts as it takes, and what one attempt has answered the next does not ask."""

import json
from dataclasses import replace
from unittest.mock import patch

import duckdb
import pytest

from plimsoll.model.errors import AccessDenied, OutOfTime, Throttled, Unexpected
from plimsoll.ports import Target
from plimsoll.reports.run_files import RUN
from plimsoll_service.auditing import AuditAttempt, audit_batch, audit_lot
from plimsoll_service.planning import find_pending
from plimsoll_service.step_messages import (
    BatchItem,
    BatchMessage,
    FailureMessage,
    LotItem,
    LotMessage,
    PendingMessage,
    StepError,
)
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.summarizing import note_failure
from tests.builders import NOW
from tests.service_loop import Loop, files, records, run_json
from tests.unit.service.places import ACCOUNT, MemoryPlaces, places_of, service_of, volumes


def a_loop(folder, places, *, config=None, **fields):
    return Loop(service=service_of(places, folder, **(config or {})), now=NOW, **fields)


def of_batch(number):
    return BatchItem(account=ACCOUNT, region="us-east-1", batch=number)


def test_every_volume_is_answered_and_counted_once(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(7)), batch_volumes=3)
    reported = loop.run()
    run = run_json(files(loop.service, "first"))
    assert (reported.status, reported.volumes) == ("complete", 7)
    assert run["volumes"] == {"seen": 7, "answered": 7, "skipped": {}, "failed": 0, "unpriced": 0, "reconciled": True}
    assert run["plan"]["volumes"] == 7
    assert len(records(files(loop.service, "first"))) == 7
    assert [item.batch for item in loop.audited] == [0, 1, 2]


def test_a_batch_that_has_to_stop_is_gone_on_with_and_nothing_is_asked_twice(tmp_path):
    whole = places_of(volumes(6))
    a_loop(tmp_path / "whole", whole).run()
    parted = places_of(volumes(6))
    loop = a_loop(tmp_path / "parted", parted, slice_volumes=1, slices=1)
    loop.run()
    assert loop.rounds > 2
    assert sorted(parted.metrics.asked) == sorted(whole.metrics.asked)
    one, other = (files(a_loop(tmp_path / name, whole).service, "first") for name in ("whole", "parted"))
    assert records(one) == records(other)
    once, often = run_json(one), run_json(other)
    alike = ("volumes", "actions", "monthly_usd", "failures", "notices", "prices", "plan")
    assert {key: once[key] for key in alike} == {key: often[key] for key in alike}
    assert once["usage"]["datapoints"] == often["usage"]["datapoints"]


def test_what_the_batches_metrics_showed_is_told_once_however_often_they_stopped(tmp_path):
    places = places_of(volumes(6))
    here = Target(account=ACCOUNT, region="us-east-1")
    places.metrics.texts = {here: ("some hosts are gone.",)}
    loop = a_loop(tmp_path, places, batch_volumes=3, slice_volumes=1, slices=1)
    loop.run()
    assert run_json(files(loop.service, "first"))["notices"] == {str(here): ["some hosts are gone."]}


def test_a_batch_that_gets_nowhere_fails_instead_of_going_round(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(2)), slices=-1)
    reported = loop.run()
    assert reported.status == "partial"
    (reasons,) = run_json(files(loop.service, "first"))["failures"]["volumes"].values()
    ((reason, ids),) = reasons.items()
    assert ids == ["vol-us-east-1-000", "vol-us-east-1-001"]
    assert reason.startswith(f"batch {ACCOUNT}/us-east-1/00000 could not be audited: no volume of batch")
    assert len(loop.audited) == 1


def test_what_stops_without_an_answer_says_what_to_give_it(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(2)))
    loop.take_inventories(loop.begin())
    with pytest.raises(OutOfTime, match="give it a longer limit, or more memory"):
        audit_batch(loop.service, BatchMessage(run_id="first", batch=of_batch(0)), stop=lambda: True)


def test_a_batch_that_is_answered_is_not_audited_again(tmp_path):
    places = places_of(volumes(2))
    loop = a_loop(tmp_path, places)
    loop.run()
    asked = len(places.metrics.asked)
    attempt = audit_batch(loop.service, BatchMessage(run_id="first", batch=of_batch(0)), stop=lambda: False)
    assert (attempt.volumes, len(places.metrics.asked)) == (0, asked)


def test_the_tables_of_all_batches_name_their_run_and_lie_under_its_day(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(5)), batch_volumes=2)
    loop.run()
    for table, rows in (("recommendations", 5), ("demand", None)):
        place = f"{loop.service.root}/runs/{table}/run_date={NOW:%Y-%m-%d}/*.parquet"
        found = duckdb.sql(f"select run_id, volume_id from read_parquet('{place}')").fetchall()
        assert {run_id for run_id, _ in found} == {"first"}
        assert len({volume for _, volume in found}) == 5
        assert rows in {None, len(found)}


def test_a_rerun_audits_only_the_batches_that_are_missing(tmp_path):
    def crash(item):
        if item.batch == 1:
            raise RuntimeError("the machine is gone")

    places = places_of(volumes(6))
    broken = a_loop(tmp_path, places, batch_volumes=2, crash=crash)
    with pytest.raises(RuntimeError):
        broken.run()
    rerun = a_loop(tmp_path, places, batch_volumes=2)
    assert rerun.run("second", run_id="first").status == "complete"
    assert [item.batch for item in rerun.audited] == [1, 2]
    assert len(records(files(rerun.service, "first"))) == 6


def test_a_rerun_asks_the_volumes_again_that_had_no_answer(tmp_path):
    failing = places_of(volumes(4), broken_metrics={"vol-us-east-1-001": Unexpected("no such thing")})
    first = a_loop(tmp_path, failing, batch_volumes=2)
    assert first.run().status == "partial"
    healed = places_of(volumes(4))
    rerun = a_loop(tmp_path, healed, batch_volumes=2)
    assert rerun.run("second", run_id="first").status == "complete"
    assert set(healed.metrics.asked) == {"vol-us-east-1-001"}
    assert run_json(files(rerun.service, "first"))["volumes"]["failed"] == 0


def test_a_volume_that_has_no_answer_is_told_with_its_reason(tmp_path):
    places = places_of(volumes(2), broken_metrics={"vol-us-east-1-001": Unexpected("no such thing")})
    loop = a_loop(tmp_path, places)
    loop.run()
    folder = files(loop.service, "first")
    assert run_json(folder)["failures"]["volumes"] == {f"{ACCOUNT}/us-east-1": {"no such thing": ["vol-us-east-1-001"]}}
    assert '"volume_id":"vol-us-east-1-001"' in (folder / "unanswered.jsonl").read_text(encoding="utf-8")
    assert (folder / RUN).exists()


def test_volumes_of_one_host_are_in_one_batch(tmp_path):
    first, *others = volumes(3)
    together = [first, *(replace(volume, attachments=first.attachments) for volume in others)]
    loop = a_loop(tmp_path, places_of(together), batch_volumes=1)
    loop.run()
    assert len(loop.audited) == 1


def test_an_attempt_that_was_given_up_and_goes_on_takes_nothing_from_the_one_that_ended(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(6)))
    loop.take_inventories(loop.begin())
    told = BatchMessage(run_id="first", batch=of_batch(0))
    asked = iter(range(10))

    def stop():
        number = next(asked)
        if number == 1:
            audit_batch(loop.service, told, stop=lambda: False)
        return number > 1

    assert audit_batch(loop.service, told, stop=stop, slice_volumes=1).volumes == 1
    assert find_pending(loop.service, PendingMessage(run_id="first")).pending == 0
    assert loop.end("first").volumes == 6
    assert len(records(files(loop.service, "first"))) == 6


def test_a_batch_that_was_given_up_and_ended_after_that_counts_once(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(4)), batch_volumes=2)
    loop.take_inventories(loop.begin())
    note_failure(
        loop.service,
        FailureMessage(
            run_id="first", lot=LotItem(batches=[of_batch(1)], sharing=1), error=StepError(error="Lambda.Unknown")
        ),
    )
    for number in (0, 1):
        audit_batch(loop.service, BatchMessage(run_id="first", batch=of_batch(number)), stop=lambda: False)
    assert loop.end("first").status == "complete"
    assert run_json(files(loop.service, "first"))["volumes"]["seen"] == 4


REGIONS = ("af-south-1", "eu-west-1", "us-east-1")


def in_three_regions(**facts):
    return places_of([volume for region in REGIONS for volume in volumes(2, region=region)], **facts)


def a_lot(loop):
    """The one lot of three small targets."""
    loop.take_inventories(loop.begin())
    found = find_pending(loop.service, PendingMessage(run_id="first", at_once=1))
    (item,) = json.loads(loop.service.store.get(found.pending_key))
    assert [(one["region"], found.pending) for one in item["batches"]] == [(region, 3) for region in REGIONS]
    return LotMessage(run_id="first", lot=item)


def answered(loop):
    return {batch.target.region for batch in RunKeys(run_id="first").answered_batches(loop.service.store)}


def test_the_small_targets_of_a_lot_are_audited_one_after_the_other(tmp_path):
    loop = a_loop(tmp_path, in_three_regions())
    attempt = audit_lot(loop.service, a_lot(loop), stop=lambda: False)
    assert (attempt.volumes, attempt.left, answered(loop)) == (6, 0, set(REGIONS))
    assert loop.end("first").status == "complete"


def test_a_lot_that_has_to_stop_goes_on_where_it_was(tmp_path):
    loop = a_loop(tmp_path, in_three_regions())
    told, asked = a_lot(loop), iter([False, False, True, True])
    first = audit_lot(loop.service, told, stop=lambda: next(asked))
    assert (first.volumes, first.left, answered(loop)) == (2, 2, {REGIONS[0]})
    second = audit_lot(loop.service, told, stop=lambda: False)
    assert (second.volumes, second.left) == (4, 0)
    assert audit_lot(loop.service, told, stop=lambda: False) == AuditAttempt()


def test_a_batch_that_begins_too_late_for_an_answer_is_left_and_not_given_up(tmp_path):
    loop = a_loop(tmp_path, in_three_regions())
    told, asked = a_lot(loop), iter([False, False, False, True, True, True, True])
    attempt = audit_lot(loop.service, told, stop=lambda: next(asked))
    assert (attempt.volumes, attempt.left, answered(loop)) == (2, 2, {REGIONS[0]})


def test_what_may_be_over_soon_in_one_target_holds_up_no_other_of_the_lot(tmp_path):
    slow = Target(account=ACCOUNT, region=REGIONS[0])
    loop = a_loop(tmp_path, in_three_regions())
    told = a_lot(loop)
    loop.service.places.locked[slow] = Throttled("too fast")
    with pytest.raises(Throttled, match="too fast"):
        audit_lot(loop.service, told, stop=lambda: False)
    assert answered(loop) == {*REGIONS[1:]}


def test_of_a_lot_that_fails_each_batch_is_tried_alone_and_only_the_one_that_fails_is_given_up(tmp_path):
    closed = Target(account=ACCOUNT, region=REGIONS[0])
    loop = a_loop(tmp_path, in_three_regions(), at_once=1)
    loop.take_inventories(loop.begin())
    loop.service.places.locked[closed] = AccessDenied("no entry")
    loop.audit_batches("first")
    assert loop.rounds == 2
    assert answered(loop) == {*REGIONS[1:]}
    assert loop.end("first").status == "partial"
    failed = run_json(files(loop.service, "first"))["failures"]["volumes"]
    assert set(failed) == {str(closed)}
    assert "no entry" in str(failed)


def test_a_lot_reads_with_its_share_of_the_quota(tmp_path):
    loop = a_loop(tmp_path, places_of(volumes(4)), batch_volumes=1)
    loop.take_inventories(loop.begin())
    seen, ports = [], MemoryPlaces.ports

    def watched(self, target, *, sharing=1, **given):
        seen.append(sharing)
        return ports(self, target, **given)

    with patch.object(MemoryPlaces, "ports", watched):
        loop.at_once = 2
        loop.audit_batches("first")
    assert seen == [2] * 4
