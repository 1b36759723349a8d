"""Which series are a disk's: those under its own name wherever, those of another device name since it was attached."""

from plimsoll_google.queries import claims_of, places_of
from tests.unit.google.disks import LONG_AGO_S, a_disk, a_place


def claimed(volume):
    return [(claim.device, claim.instance_id) for claim in claims_of(volume)]


def test_a_disk_under_its_own_name_is_so_on_every_instance_of_its_zone_since_it_was_made():
    (claim,) = claims_of(a_disk(a_place(device="disk-a", since_s=LONG_AGO_S + 9000), name="disk-a"))
    assert (claim.device, claim.instance_id, claim.zones) == ("disk-a", None, ("us-central1-a",))
    assert claim.from_s == LONG_AGO_S


def test_a_disk_under_another_name_is_so_on_its_instance_since_it_was_attached():
    (claim,) = claims_of(a_disk(a_place("72", "persistent-disk-1", since_s=LONG_AGO_S + 9000)))
    assert (claim.device, claim.instance_id, claim.from_s) == ("persistent-disk-1", "72", LONG_AGO_S + 9000)


def test_the_minute_in_which_it_was_attached_is_left_out():
    for late_s, from_s in ((0, 0), (0.5, 60), (59, 60), (60, 60)):
        (claim,) = claims_of(a_disk(a_place(device="data", since_s=LONG_AGO_S + late_s)))
        assert claim.from_s == LONG_AGO_S + from_s


def test_a_disk_attached_to_nothing_is_looked_for_by_its_name():
    assert claimed(a_disk(name="disk-a")) == [("disk-a", None)]


def test_a_disk_without_a_name_that_is_attached_to_nothing_is_looked_for_nowhere():
    assert claimed(a_disk(tags={})) == []


def test_a_disk_on_several_instances_is_each_of_them():
    assert claimed(a_disk(a_place("71", "shared"), a_place("72", "shared"))) == [("shared", "71"), ("shared", "72")]
    assert claimed(a_disk(a_place("71", "disk-a"), a_place("72", "data"))) == [("disk-a", None), ("data", "72")]


def test_a_regional_disk_is_looked_for_in_both_zones():
    (claim,) = claims_of(a_disk(a_place(), zone="us-central1-a+us-central1-f"))
    assert claim.zones == ("us-central1-a", "us-central1-f")


def test_a_place_has_one_disk():
    disks = [a_disk(a_place("71", "disk-a")), a_disk(a_place("71", "data"), id="502"), a_disk(id="503")]
    assert places_of(disks) == {("71", "disk-a"): "501", ("71", "data"): "502"}
