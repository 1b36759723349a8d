"""The ledger: changes seen by successive audits, so that the four of a day are known."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.clouds.ledger import Ledger, NotedInventory
from plimsoll.demand.epochs import epochs_of
from plimsoll.model.errors import AccessDenied, BadInput
from plimsoll.model.volume import Attachment, Modification
from plimsoll.ports import Target
from plimsoll.reading.window import Window
from tests.builders import NOW, a_host, a_volume
from tests.in_memory.ports import MemoryInventory


def changed(hours_ago, name="vol-1"):
    started = NOW - timedelta(hours=hours_ago)
    return a_volume(id=name, modification=Modification(state="completed", started=started), recent_changes=(started,))


def audited(path, *volumes, now=NOW):
    """The volumes as an audit sees them with the ledger in that file, saved afterwards."""
    ledger = Ledger.at(path)
    noted = [ledger.note(volume) for volume in volumes]
    ledger.save(now)
    return noted


def hours_ago(volume):
    return [(NOW - start) / timedelta(hours=1) for start in volume.recent_changes]


def test_where_there_is_no_file_there_are_no_changes(tmp_path):
    (volume,) = audited(tmp_path / "new" / "ledger.json", a_volume())
    assert volume.recent_changes == ()


def test_changes_are_remembered_across_audits_though_the_cloud_shows_the_latest_alone(tmp_path):
    path = tmp_path / "ledger.json"
    audited(path, changed(20))
    audited(path, changed(9))
    (volume,) = audited(path, changed(1))
    assert hours_ago(volume) == [20, 9, 1]


def test_four_changes_of_a_day_are_counted_once_each(tmp_path):
    path = tmp_path / "ledger.json"
    for hours in (22, 22, 14, 14, 7, 1, 1):
        (volume,) = audited(path, changed(hours))
    assert hours_ago(volume) == [22, 14, 7, 1]


def test_a_change_stays_known_when_the_cloud_has_forgotten_it(tmp_path):
    path = tmp_path / "ledger.json"
    audited(path, changed(5))
    (volume,) = audited(path, a_volume())
    assert hours_ago(volume) == [5]


def test_volumes_keep_their_own_changes(tmp_path):
    path = tmp_path / "ledger.json"
    audited(path, changed(5, "a"), changed(3, "b"))
    assert [hours_ago(volume) for volume in audited(path, a_volume(id="a"), a_volume(id="b"))] == [[5], [3]]


def test_changes_that_no_longer_count_are_dropped(tmp_path):
    path = tmp_path / "ledger.json"
    audited(path, changed(47, "young"), changed(48, "old"))
    assert set(Ledger.at(path).starts) == {"young"}
    audited(path, now=NOW + timedelta(days=3))
    assert Ledger.at(path).starts == {}


def audits(path, *steps):
    """The volume as the last of several audits sees it, each so many days before now."""
    for days_ago, volume in steps:
        (noted,) = audited(path, volume, now=NOW - timedelta(days=days_ago))
    return noted


def figures(volume, days=14):
    """By days before now, what it was from when on."""
    window = Window.before(NOW, days=days)
    return [
        (round((NOW.timestamp() - one.window.start_s) / 86_400, 1), one.spec and one.spec.iops, one.hosts)
        for one in epochs_of(volume, window)
    ]


def gp3(iops, **fields):
    return a_volume("gp3", 500, iops=iops, throughput_mib_s=125, **fields)


def modified(before, after, days_ago):
    change = Modification(state="completed", started=NOW - timedelta(days=days_ago), original=gp3(before).spec)
    return gp3(after, modification=change)


def test_a_change_that_the_cloud_has_forgotten_parts_the_window_where_it_was(tmp_path):
    volume = audits(
        tmp_path / "ledger.json",
        (12, gp3(3000)),
        (7, modified(3000, 4500, 9)),
        (1, modified(4500, 6000, 3)),
        (0, modified(4500, 6000, 3)),
    )
    assert [one[1] for one in figures(volume)] == [3000, 4500, 6000]
    assert [one[0] for one in figures(volume)][1:] == [9, 3]


def test_of_a_volume_that_stayed_what_it_is_nothing_is_brought_along_and_little_is_kept(tmp_path):
    path = tmp_path / "ledger.json"
    volume = audits(path, *((days_ago, gp3(3000)) for days_ago in range(60, -1, -1)))
    assert volume.seen == ()
    assert len(Ledger.at(path).seen["vol-1"]) == 3  # when it was attached, and the first and the last audit


def test_what_a_volume_was_is_known_as_long_as_its_metrics_are_and_of_one_that_is_gone_for_three_months(tmp_path):
    path = tmp_path / "ledger.json"
    volume = audits(path, (300, gp3(3000)), (290, gp3(6000)), (200, gp3(6000)), (110, gp3(6000)), (0, gp3(6000)))
    assert next(one.spec.iops for one in volume.seen if one.spec is not None) == 3000
    audited(path, a_volume(id="another"), now=NOW + timedelta(days=92))
    assert "vol-1" in Ledger.at(path).seen
    audited(path, a_volume(id="another"), now=NOW + timedelta(days=94))
    assert "vol-1" not in Ledger.at(path).seen


def test_the_host_that_a_volume_had_before_is_known_with_its_limits(tmp_path):
    small, large = a_host("m5.large", id="i-small"), a_host(id="i-large")
    volume = gp3(3000)
    there = (Attachment(host=small, device="/dev/sdf", since=NOW - timedelta(days=80)),)
    here = (Attachment(host=large, device="/dev/sdf", since=NOW - timedelta(days=2)),)
    now = audits(
        tmp_path / "ledger.json", (7, replace(volume, attachments=there)), (0, replace(volume, attachments=here))
    )
    epochs = figures(now)
    assert [hosts[0].id for _, _, hosts in epochs] == ["i-small", "i-large"]
    assert epochs[0][2][0].limits == small.limits
    assert epochs[1][0] == 2


def test_a_host_of_a_type_without_published_limits_is_read_back(tmp_path):
    path, unknown = tmp_path / "ledger.json", replace(a_host(), type="x9-standard-4", limits=None)
    there = (Attachment(host=unknown, device="sdb", since=NOW - timedelta(days=80)),)
    now = audits(path, (7, replace(gp3(3000), attachments=there)), (0, gp3(4000)))
    assert Ledger.at(path).seen["vol-1"]
    assert figures(now)[0][2][0].limits is None


def test_what_was_seen_long_ago_is_dropped(tmp_path):
    path = tmp_path / "ledger.json"
    audits(path, (94, gp3(3000)), (0, a_volume(id="vol-2")))
    assert set(Ledger.at(path).seen) == {"vol-2"}


@pytest.mark.parametrize(
    "seen",
    [
        b"3",
        b"[]",
        b'{"volumes": {"vol-1": [3]}}',
        b'{"volumes": {"vol-1": [[1, null, [0], false]]}}',
        b'{"volumes": {"vol-1": [[1, {"type": "gp3"}, null, false]]}}',
        b'{"hosts": [{"id": "i-1"}], "volumes": {"vol-1": [[1, null, [0], false]]}}',
    ],
)
def test_damaged_sightings_are_refused_as_well(tmp_path, seen):
    path = tmp_path / "ledger.json"
    path.write_bytes(b'{"/seen": ' + seen + b"}")
    with pytest.raises(BadInput, match="move it away"):
        Ledger.at(path)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"\xff\xfe",
        b'{"vol-1": 3}',
        b'{"vol-1": null}',
        b'{"vol-1": [3]}',
        b'{"vol-1": ["yesterday"]}',
        b'{"vol-1": "2026-11-20T00:00:00+00:00"}',
        pytest.param(b'{"vol-1": ["2026-11-20T00:00:00"]}'),
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_remedy_and_left_as_it_is(tmp_path, damaged):
    path = tmp_path / "ledger.json"
    path.write_bytes(damaged)
    with pytest.raises(BadInput, match="move it away") as refused:
        Ledger.at(path)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == damaged


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        Ledger.at(tmp_path)


def test_an_inventory_with_a_ledger_is_the_same_but_for_the_changes(tmp_path):
    target = Target(account="111122223333", region="us-east-1")
    broken = Target(account="999900001111", region="us-east-1")
    inner = MemoryInventory(
        given=[changed(5)], broken={broken: AccessDenied("denied")}, texts={target: ("another tool is active",)}
    )
    ledger = Ledger.at(tmp_path / "ledger.json")
    ledger.note(changed(9))
    noted = NotedInventory(inventory=inner, ledger=ledger)
    assert noted.targets() == inner.targets()
    assert noted.notices(target) == inner.notices(target)
    assert [hours_ago(volume) for volume in noted.volumes(target)] == [[9, 5]]
    with pytest.raises(AccessDenied, match="denied"):
        list(noted.volumes(broken))
