from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.blockers import blockers, evidence_blocker
from plimsoll.decide.evidence import Evidence
from plimsoll.model.policy import Grade
from plimsoll.model.volume import Modification
from tests.builders import NOW, TYPES, a_host, a_policy, a_spec, a_volume

GP3 = a_spec("gp3", 500)


def codes(volume, target=GP3):
    return [blocker.code for blocker in blockers(volume, target, TYPES, now=NOW)]


def changed(*hours_ago):
    return tuple(NOW - timedelta(hours=hours) for hours in hours_ago)


def test_nothing_stands_in_the_way_of_an_ordinary_volume():
    assert codes(a_volume()) == []


def test_a_managed_volume_is_its_operators():
    (found,) = blockers(a_volume(operator="eks.amazonaws.com"), GP3, TYPES, now=NOW)
    assert found.code == "operator-managed"
    assert "eks.amazonaws.com manages this volume" in found.text


@pytest.mark.parametrize(("state", "blocked"), [("modifying", 1), ("optimizing", 1), ("completed", 0), ("failed", 0)])
def test_a_change_in_progress_must_complete_first(state, blocked):
    volume = a_volume(modification=Modification(state=state, started=NOW - timedelta(hours=1), progress_pct=40))
    assert codes(volume) == ["modification-in-progress"] * blocked


def test_a_change_in_progress_says_how_far_it_is():
    volume = a_volume(modification=Modification(state="optimizing", started=NOW, progress_pct=40))
    assert "2026-11-20 12:00 UTC is optimizing (40 %)" in blockers(volume, GP3, TYPES, now=NOW)[0].text


def test_four_changes_in_24_hours_are_all_there_are():
    assert codes(a_volume(recent_changes=changed(1, 2, 3))) == []
    assert codes(a_volume(recent_changes=changed(1, 2, 3, 23.9))) == ["modifications-used-up"]


def test_a_change_a_day_old_no_longer_counts_nor_does_one_yet_to_come():
    assert codes(a_volume(recent_changes=changed(1, 2, 3, 24))) == []
    assert codes(a_volume(recent_changes=changed(1, 2, 3, -1))) == []


def test_the_text_says_when_the_next_change_is_possible():
    volume = a_volume(recent_changes=changed(1, 5, 2, 20, 10))
    assert "possible from 2026-11-21 02:00 UTC" in blockers(volume, GP3, TYPES, now=NOW)[0].text


@given(st.lists(st.floats(0, 48), max_size=8))
def test_at_the_time_it_names_a_change_is_possible_and_not_before(hours_ago):
    volume = a_volume(recent_changes=changed(*hours_ago))
    if codes(volume):
        free_at = sorted(start for start in volume.recent_changes if start > NOW - timedelta(days=1))[-4] + timedelta(1)
        assert f"{free_at:%Y-%m-%d %H:%M}" in blockers(volume, GP3, TYPES, now=NOW)[0].text
        assert blockers(volume, GP3, TYPES, now=free_at) == ()
        assert blockers(volume, GP3, TYPES, now=free_at - timedelta(milliseconds=1))


def test_a_volume_cannot_shrink():
    assert codes(a_volume("gp3", 501)) == ["shrink"]


def test_a_boot_volume_cannot_be_of_a_type_that_boots_nothing():
    assert codes(a_volume("gp2", 500, boot=True), a_spec("st1", 500)) == ["impossible"]
    assert codes(a_volume("gp2", 500, boot=True), GP3) == []


def test_several_hosts_need_a_type_that_attaches_to_several():
    shared = a_volume("io1", 500, on=[a_host(id="i-1"), a_host(id="i-2")], multi_attach=True)
    assert codes(shared) == ["impossible", "multi-attach"]


@pytest.mark.parametrize("target", [GP3, a_spec("io1", 500, iops=5000)])
def test_with_multi_attach_a_type_cannot_be_changed(target):
    assert codes(a_volume("io2", 500, multi_attach=True), target) == ["multi-attach"]


def test_with_multi_attach_io2_can_be_given_other_figures_and_io1_cannot():
    assert codes(a_volume("io2", 500, iops=9000, multi_attach=True), a_spec("io2", 500, iops=5000)) == []
    assert codes(a_volume("io1", 500, iops=9000, multi_attach=True), a_spec("io1", 500, iops=5000)) == ["multi-attach"]


def test_what_is_replicated_needs_its_replication_rebuilt_before_it_becomes_another_type():
    primary = replace(a_volume("gp2", 500), replicated_to=("copy",))
    assert codes(primary) == ["replicated"]
    assert codes(primary, a_spec("gp2", 600)) == []


def test_every_blocker_is_named():
    worst = a_volume(
        "io2",
        600,
        operator="eks",
        recent_changes=changed(1, 2, 3, 4),
        modification=Modification(state="modifying", started=NOW),
        multi_attach=True,
    )
    assert codes(worst) == [
        "operator-managed",
        "modification-in-progress",
        "modifications-used-up",
        "shrink",
        "multi-attach",
    ]


def graded(action, grade, **required):
    evidence = Evidence(grade=grade, envelope=None, text="")
    return [found.code for found in evidence_blocker(action, evidence, a_policy(require_evidence=required))]


def test_a_policy_may_want_better_evidence_for_an_action():
    assert graded("migrate", Grade.C) == []
    assert graded("migrate", Grade.C, migrate=Grade.B) == ["evidence"]
    assert graded("migrate", Grade.B, migrate=Grade.B) == []
    assert graded("upgrade", Grade.C, migrate=Grade.B) == []


def test_a_policy_may_want_better_evidence_for_all_that_it_does_not_name():
    assert graded("upgrade", Grade.B, **{"*": Grade.A}) == ["evidence"]
    assert graded("upgrade", Grade.B, **{"*": Grade.A, "upgrade": Grade.B}) == []


def test_what_a_volume_is_called_is_no_blocker():
    assert codes(replace(a_volume(), tags={"Name": "db"})) == []
