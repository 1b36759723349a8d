"""Known sets: which still stand, and how devices that share volumes are one."""

import pytest

from plimsoll.domain.groups.stripes import merge_sets, split_by_change
from tests.builders import a_host, a_stripe_set, a_volume

PLACE = {"account": "111122223333", "region": "us-east-1"}
KNOWN = a_stripe_set("a", "b", mounts=("/data",))


def volumes(**on):
    """Volumes a and b on the host that told of them, or on others."""
    return [a_volume(id=name, on=on.get(name, a_host())) for name in ("a", "b")]


def test_a_set_stands_while_all_its_volumes_are_on_its_host():
    assert split_by_change([KNOWN], volumes(), **PLACE) == ([KNOWN], [])


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (volumes(b=[]), "b is detached"),
        (volumes(a=a_host(id="i-2")), "a has moved to i-2"),
        (volumes(b=[a_host(), a_host(id="i-2")]), "b is no longer attached to one host alone"),
        (volumes()[:1], "b is no longer there"),
    ],
)
def test_a_set_whose_volume_has_gone_elsewhere_is_void_and_told(there, why):
    stand, (told,) = split_by_change([KNOWN], there, **PLACE)
    assert stand == []
    assert why in told
    assert told.startswith("the stripe set md0 (raid0, 2 volumes) on i-1 of 2026-11-01 is void")
    assert "`plimsoll stripes i-1`" in told


@pytest.mark.parametrize("elsewhere", [{"account": "999900001111"}, {"region": "eu-west-1"}])
def test_sets_of_other_places_are_neither_used_nor_told(elsewhere):
    assert split_by_change([KNOWN], [], **{**PLACE, **elsewhere}) == ([], [])


def test_sets_apart_stay_apart_and_a_chain_becomes_one():
    apart = [a_stripe_set("a", "b"), a_stripe_set("c", "d", name="md1")]
    assert list(merge_sets(apart)) == apart
    (one,) = merge_sets([*apart, a_stripe_set("b", "c", name="md2")])
    assert one.members == ("a", "b", "c", "d")
    assert one.even
