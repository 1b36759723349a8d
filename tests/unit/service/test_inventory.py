"""An inventory is whole or none; what a target refuses is its answer, and what may be over soon is tried again."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.clouds.stripe_book import sets_adapter
from plimsoll.model.errors import (
    AccessDenied,
    BadAnswer,
    BadInput,
    DeniedByPolicy,
    RegionDenied,
    Throttled,
    Unreachable,
)
from plimsoll.model.volume import Modification
from plimsoll.ports import Target, UnreadVolume
from plimsoll_service.inventory import take_inventory
from plimsoll_service.planning import find_pending
from plimsoll_service.step_messages import AccountItem, AccountMessage, PendingMessage
from plimsoll_service.store_keys import RunKeys, VolumeBatch
from plimsoll_service.stored_results import require_volumes
from tests.builders import NOW, a_stripe_set
from tests.service_loop import Loop, files, run_json
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

HERE = Target(account=ACCOUNT, region="us-east-1")
THERE = Target(account=ACCOUNT, region="eu-west-1")
MESSAGE = AccountMessage(run_id="first", account=AccountItem(account=ACCOUNT))
KEYS = RunKeys(run_id="first")


def begun(places, folder):
    loop = Loop(service=service_of(places, folder), now=NOW)
    loop.begin()
    return loop


def pending(loop):
    return find_pending(loop.service, PendingMessage(run_id="first")).pending


@pytest.mark.parametrize("error", [Throttled("too fast"), Unreachable("no way")])
def test_what_may_be_over_soon_is_raised_for_another_attempt(tmp_path, error):
    loop = begun(places_of(volumes(2), broken={HERE: error}), tmp_path)
    with pytest.raises(type(error)):
        take_inventory(loop.service, MESSAGE)
    assert pending(loop) == 0


@pytest.mark.parametrize("broken", ["listing", "entering"])
def test_what_a_target_refuses_is_its_answer(tmp_path, broken):
    denied = {HERE: AccessDenied("no entry")}
    places = places_of(volumes(2), **{"broken" if broken == "listing" else "locked": denied})
    loop = begun(places, tmp_path)
    loop.take_inventories("first")
    loop.audit_batches("first")
    assert loop.end("first").status == "partial"
    run = run_json(files(loop.service, "first"))
    assert run["failures"]["targets"] == {str(HERE): "no entry"}
    seen = 2 if broken == "listing" else 0
    assert run["volumes"] == {
        "seen": seen,
        "answered": 0,
        "skipped": {},
        "failed": seen,
        "unpriced": 0,
        "reconciled": True,
    }


@pytest.mark.parametrize(
    ("meant", "error", "status"),
    [(False, DeniedByPolicy, "partial"), (True, DeniedByPolicy, "complete"), (False, RegionDenied, "complete")],
)
def test_a_place_that_an_organization_denies_leaves_a_run_complete_where_that_is_expected(
    tmp_path, meant, error, status
):
    expected = status == "complete"
    places = places_of(volumes(2), broken={THERE: error("denied.")})
    places.denied_places_expected = meant
    loop = begun(places, tmp_path)
    loop.take_inventories("first")
    loop.audit_batches("first")
    assert loop.end("first").status == status
    run = run_json(files(loop.service, "first"))
    assert list(run["failures"]["targets"]) == ([] if expected else [str(THERE)])
    assert (str(THERE) in run["notices"]) is expected


def test_a_volume_that_could_not_be_read_fails_by_name_and_the_others_are_audited(tmp_path):
    unread = {HERE: [UnreadVolume(id="vol-bad", error=BadAnswer("Size is missing"))]}
    loop = begun(places_of(volumes(2), unread=unread), tmp_path)
    loop.take_inventories("first")
    loop.audit_batches("first")
    assert loop.end("first").status == "partial"
    run = run_json(files(loop.service, "first"))
    assert run["volumes"] == {"seen": 3, "answered": 2, "skipped": {}, "failed": 1, "unpriced": 0, "reconciled": True}
    assert "vol-bad" in str(run["failures"])


def test_a_denied_target_is_asked_again_by_a_rerun(tmp_path):
    loop = Loop(service=service_of(places_of(volumes(2), broken={HERE: AccessDenied("no entry")}), tmp_path), now=NOW)
    loop.run()
    rerun = Loop(service=service_of(places_of(volumes(2)), tmp_path), now=NOW)
    assert rerun.run("second", run_id="first").status == "complete"
    assert run_json(files(rerun.service, "first"))["failures"]["targets"] == {}


def in_two_regions(**facts):
    return places_of([*volumes(1), *volumes(1, region=THERE.region)], **facts)


def taken(loop):
    return set(KEYS.listed_targets(loop.service.store))


def test_an_account_is_gone_on_with_region_by_region_as_the_time_of_its_function_goes(tmp_path):
    loop = begun(in_two_regions(), tmp_path)
    assert take_inventory(loop.service, MESSAGE, stop=lambda: True).left == 1
    assert taken(loop) == {THERE}
    assert take_inventory(loop.service, MESSAGE, stop=lambda: True).left == 0
    assert taken(loop) == {THERE, HERE}
    assert loop.service.places.entered == [ACCOUNT], "its regions are known from the first time on"


def test_an_account_that_is_whole_is_not_entered_again(tmp_path):
    loop = begun(in_two_regions(), tmp_path)
    assert [take_inventory(loop.service, MESSAGE).left for _ in range(2)] == [0, 0]
    assert loop.service.places.entered == [ACCOUNT]


def test_an_account_without_any_volume_is_whole(tmp_path):
    places = places_of(volumes(1))
    loop = begun(places, tmp_path)
    nothing = replace(places, inventory=replace(places.inventory, given=[]))
    assert take_inventory(replace(loop.service, places=nothing), MESSAGE).left == 0
    assert KEYS.complete_accounts(loop.service.store) == {ACCOUNT}


def test_a_region_that_may_answer_soon_holds_up_no_other(tmp_path):
    loop = begun(in_two_regions(broken={THERE: Throttled("too fast")}), tmp_path)
    with pytest.raises(Throttled, match="too fast"):
        take_inventory(loop.service, MESSAGE)
    assert taken(loop) == {HERE}
    assert KEYS.complete_accounts(loop.service.store) == frozenset()


def test_a_region_that_keeps_being_slow_and_throttled_ends_the_account_s_tries(tmp_path):
    loop = begun(in_two_regions(broken={THERE: Throttled("too fast")}), tmp_path)
    with pytest.raises(Throttled, match="too fast"):
        take_inventory(loop.service, MESSAGE, stop=lambda: True)


@pytest.mark.parametrize(("error", "is_tried_again"), [(AccessDenied("no entry"), False), (Throttled("later"), True)])
def test_an_account_that_cannot_be_entered_is_its_answer_unless_that_may_be_over_soon(tmp_path, error, is_tried_again):
    loop = Loop(service=service_of(places_of(volumes(2), lost={"222222222222": error}), tmp_path), now=NOW)
    assert loop.run().status == "partial"
    failed = run_json(files(loop.service, "first"))
    assert failed["failures"]["targets"] == {
        "222222222222" if is_tried_again else "the role of 222222222222": str(error),
    }
    assert failed["volumes"]["answered"] == 2
    assert loop.service.places.entered.count("222222222222") == (loop.attempts if is_tried_again else 1)
    opened = places_of([*volumes(2), *(replace(one, account="222222222222") for one in volumes(1))])
    rerun = Loop(service=replace(loop.service, places=opened), now=NOW)
    assert rerun.run("second", run_id="first").status == "complete"
    assert opened.entered == ["222222222222"]


def test_half_an_inventory_is_none(tmp_path):
    loop = begun(places_of(volumes(4)), tmp_path)
    take_inventory(loop.service, MESSAGE, batch_volumes=1)
    loop.service.store.delete(KEYS.listed_key(HERE))
    loop.service.store.delete(KEYS.account_mark(ACCOUNT))
    assert pending(loop) == 0
    take_inventory(loop.service, MESSAGE, batch_volumes=2)
    assert pending(loop) == 2


def test_an_inventory_is_taken_once(tmp_path):
    loop = begun(places_of(volumes(2)), tmp_path)
    take_inventory(loop.service, MESSAGE, batch_volumes=1)
    take_inventory(loop.service, MESSAGE, batch_volumes=2)
    assert pending(loop) == 2


def test_what_is_to_be_known_of_a_target_is_told_once_whatever_its_batches(tmp_path):
    loop = Loop(service=service_of(places_of(volumes(4), texts={HERE: ["mind the gap"]}), tmp_path), now=NOW)
    loop.batch_volumes = 1
    loop.run()
    run = run_json(files(loop.service, "first"))
    assert run["notices"] == {str(HERE): ["mind the gap"]}
    assert list(run["prices"]) == [str(HERE)]


def test_the_ledger_of_changes_is_kept_from_run_to_run(tmp_path):
    (volume,) = volumes(1)
    for hours in (30, 3):
        started = NOW - timedelta(hours=hours)
        changed = replace(volume, modification=Modification(state="completed", started=started, progress_pct=100))
        loop = Loop(service=service_of(places_of([changed]), tmp_path), now=NOW)
        loop.run(f"run-{hours}")
    noted = json.loads(loop.service.store.get(f"ledger/{HERE}.json"))
    assert len(noted[volume.id]) == 2


def test_what_an_earlier_run_saw_of_a_volume_is_known_to_the_next(tmp_path):
    (volume,) = volumes(1)
    grown = replace(volume, spec=replace(volume.spec, size_gib=2 * volume.spec.size_gib))
    for name, seen, days_ago in (("first", volume, 7), ("second", grown, 0)):
        loop = Loop(service=service_of(places_of([seen]), tmp_path), now=NOW - timedelta(days=days_ago))
        loop.run(name)
    batch = RunKeys(run_id="second").volumes(VolumeBatch(target=HERE, number=0))
    (kept,) = require_volumes(loop.service.store, batch)
    assert [one.spec for one in kept.seen if one.spec is not None] == [volume.spec]
    assert kept.seen[-1].at_s == (NOW - timedelta(days=7)).timestamp()


def test_a_stripe_set_that_is_no_longer_there_is_told_and_one_that_stands_is_decided_as_one(tmp_path):
    first, second, *others = volumes(4)
    second = replace(second, attachments=first.attachments)
    host = first.hosts[0].id
    stands = a_stripe_set(first.id, second.id, account=ACCOUNT, region=HERE.region, host_id=host, name="md0")
    gone = a_stripe_set(others[0].id, "vol-gone", account=ACCOUNT, region=HERE.region, host_id="i-else", name="md1")
    service = service_of(places_of([first, second, *others]), tmp_path)
    service.store.put("measured/stripes.json", sets_adapter().dump_json([stands, gone]))
    loop = Loop(service=service, now=NOW, batch_volumes=2)
    loop.run()
    (notice,) = run_json(files(service, "first"))["notices"][str(HERE)]
    assert "md1" in notice
    assert "is void" in notice
    answered = json.loads((files(service, "first") / "recommendations.json").read_text(encoding="utf-8"))
    assert {one["volume_id"] for one in answered if one["stripe_set"]} == {first.id, second.id}


def test_a_store_that_fails_is_not_taken_for_an_answer_of_the_target(tmp_path, monkeypatch):
    loop = begun(places_of(volumes(2)), tmp_path)

    def refuse(_store, key, _content):
        raise AccessDenied(f"cannot keep {key}")

    monkeypatch.setattr(type(loop.service.store), "put", refuse)
    with pytest.raises(AccessDenied, match="cannot keep"):
        take_inventory(loop.service, MESSAGE)


def test_an_attempt_that_was_given_up_takes_no_batch_from_the_one_that_ended(tmp_path):
    places = places_of(volumes(3))
    loop = begun(places, tmp_path)

    def meanwhile(target):
        take_inventory(replace(loop.service, places=places), MESSAGE, batch_volumes=1)
        return iter(volumes(2))

    late = replace(places, inventory=Interrupted(places.inventory, meanwhile))
    take_inventory(replace(loop.service, places=late), MESSAGE, batch_volumes=1)
    assert pending(loop) == 3


def test_a_damaged_ledger_is_named_by_its_key(tmp_path):
    loop = begun(places_of(volumes(1)), tmp_path)
    loop.service.store.put(f"ledger/{HERE}.json", b"[")
    with pytest.raises(BadInput, match=f"ledger/{HERE}.json in the store is damaged: delete it"):
        take_inventory(loop.service, MESSAGE)


class Interrupted:
    """An inventory during whose listing something else happens."""

    def __init__(self, inventory, meanwhile):
        self._inventory, self.volumes = inventory, meanwhile

    def __getattr__(self, name):
        return getattr(self._inventory, name)
