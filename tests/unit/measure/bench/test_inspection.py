import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll_measure.bench.answer import MARK, read_bench_answer
from plimsoll_measure.bench.inspection import Stack, stacks, volume_id_of
from tests.unit.measure.bench.trees import LVM, LVM_LVS, RAID0, RAID0_EXPORT, ROOT, a_node, lvs

ONE, TWO, THREE = (f"vol-0aaaaaaaaaaaaaaa{number}" for number in (1, 2, 3))
EXPORTED = dict(line.split("=", 1) for line in RAID0_EXPORT.splitlines())


def found(tree, **told):
    line = MARK + json.dumps({"mode": "inspect", "lsblk": tree, **told})[1:]
    return stacks(read_bench_answer(line).inspection)


def disk(number, *children, serial=True):
    return a_node(
        f"nvme{number}n1", serial=f"vol0aaaaaaaaaaaaaaa{number}" if serial else "AWS1234", children=list(children)
    )


def logical(name, number, parent="nvme1n1", **changes):
    return a_node(f"vg-{name}", "lvm", kname=f"dm-{number}", parent=parent, **changes)


def test_two_volumes_as_one_raid0_are_one_stack():
    assert found(RAID0, mdadm={"md0": EXPORTED}) == (
        Stack(
            name="/dev/md0",
            kind="md",
            level="raid0",
            members=(ONE, TWO),
            mounts=("/var/lib/data",),
            disks=frozenset({"nvme1n1", "nvme2n1"}),
        ),
    )


def test_three_volumes_as_one_logical_volume_are_one_stack_through_their_partitions():
    assert found(LVM, lvs=LVM_LVS) == (
        Stack(
            name="vg-data/store",
            kind="lvm",
            level="raid0",
            members=(ONE, TWO, THREE),
            mounts=("/srv/store",),
            disks=frozenset({"nvme1n1", "nvme2n1", "nvme3n1"}),
        ),
    )


def test_without_the_tools_the_tree_alone_tells_the_members():
    (array,) = found(RAID0)
    assert (array.members, array.level) == ((ONE, TWO), "raid0")
    (group,) = found(LVM)
    assert (group.members, group.level) == ((ONE, TWO, THREE), None)


def test_an_array_that_the_tree_shows_under_one_member_only_has_all_that_mdadm_tells():
    tree = {"blockdevices": [*RAID0["blockdevices"][:2], disk(2)]}
    assert found(tree) == ()
    (array,) = found(tree, mdadm={"md0": EXPORTED})
    assert array.members == (ONE, TWO)


def test_a_volume_on_its_own_is_no_stack():
    one = disk(1, logical("data", 0, mount="/data"))
    assert found({"blockdevices": [ROOT, one]}, lvs=lvs(("data", "vg", "linear", "1", "0"))) == ()


def test_disks_that_are_no_volumes_are_part_of_a_stack_and_no_members():
    array = a_node("md127", "raid1", mount="/m")
    (stack,) = found({"blockdevices": [disk(1, array), disk(2, array, serial=False)]})
    assert (stack.members, stack.disks, stack.level) == ((ONE,), {"nvme1n1", "nvme2n1"}, "raid1")


def test_lvm_on_an_array_of_the_same_volumes_is_told_as_the_array_with_its_mounts():
    array = a_node("md0", "raid0", children=[logical("a", 0, mount="/a"), logical("b", 1, mount="/b")])
    (stack,) = found({"blockdevices": [disk(1, array), disk(2, array)]})
    assert (stack.name, stack.kind, stack.mounts) == ("/dev/md0", "md", ("/a", "/b"))


def test_lvm_over_two_arrays_is_one_stack_of_all_their_volumes():
    top = logical("all", 0, mount="/all")
    first, second = (a_node(name, "raid0", children=[top]) for name in ("md0", "md1"))
    tree = {"blockdevices": [disk(1, first), disk(2, first), disk(3, second), disk(4, second)]}
    (stack,) = found(tree, lvs=lvs(("all", "vg", "linear", "1", "0")))
    assert (stack.name, stack.level, len(stack.members)) == ("vg/all", "linear", 4)


def test_logical_volumes_that_share_a_volume_are_one_stack():
    a, b = logical("a", 0, mount="/a"), logical("b", 1, mount="/b")
    rows = lvs(("a", "vg", "striped", "2", "64.00"), ("b", "vg", "linear", "1", "0"))
    (stack,) = found({"blockdevices": [disk(1, a), disk(2, a, b), disk(3, b)]}, lvs=rows)
    assert stack.name == "vg/a + vg/b"
    assert (stack.level, stack.members, stack.mounts) == ("mixed", (ONE, TWO, THREE), ("/a", "/b"))


def test_a_thin_volume_is_as_striped_as_the_pool_under_it():
    thin = logical("thin", 2, mount="/thin")
    pool = a_node("vg-pool-tpool", "lvm", kname="dm-1", children=[thin])
    data = a_node("vg-pool_tdata", "lvm", kname="dm-0", children=[pool])
    rows = lvs(
        ("thin", "vg", "thin", "0", "0"),
        ("pool", "vg", "thin-pool", "1", "0"),
        ("[pool_tdata]", "vg", "striped", "2", "256.00"),
    )
    (stack,) = found({"blockdevices": [disk(1, data), disk(2, data)]}, lvs=rows)
    assert (stack.name, stack.level, stack.mounts) == ("vg/thin", "raid0", ("/thin",))


def test_an_array_of_partitions_of_one_volume_is_no_stack():
    array = a_node("md0", "raid0")
    parts = [a_node(f"nvme1n1p{number}", "part", children=[array]) for number in (1, 2)]
    assert found({"blockdevices": [disk(1, *parts)]}) == ()


def test_a_partition_of_an_array_is_looked_through():
    array = a_node("md0", "raid0", children=[a_node("md0p1", "part", mount="/p")])
    (stack,) = found({"blockdevices": [disk(1, array), disk(2, array)]})
    assert (stack.name, stack.mounts) == ("/dev/md0", ("/p",))


def test_links_tell_the_volume_where_a_device_has_no_serial():
    array = a_node("md0", "raid0")
    tree = {"blockdevices": [a_node("loop1", "loop", children=[array]), a_node("loop2", "loop", children=[array])]}
    links = {
        "nvme-Amazon_Elastic_Block_Store_vol0aaaaaaaaaaaaaaa1": "/dev/loop1",
        "nvme-Amazon_Elastic_Block_Store_vol0aaaaaaaaaaaaaaa2": "/dev/loop2",
        "wwn-0x5000": "/dev/loop1",
    }
    (stack,) = found(tree, links=links)
    assert stack.members == (ONE, TWO)


@pytest.mark.parametrize(
    ("text", "volume_id"),
    [
        ("vol0123456789abcdef0", "vol-0123456789abcdef0"),
        ("vol-0123abcd", "vol-0123abcd"),
        ("nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0_1", "vol-0123456789abcdef0"),
        ("vol0123456789abcdef01", None),
        ("vol0123", None),
        ("AWS6AAF7D4", None),
        ("", None),
        (None, None),
    ],
)
def test_a_serial_is_a_volumes_id_without_its_dash(text, volume_id):
    assert volume_id_of(text) == volume_id


NAMES = st.sampled_from(["nvme1n1", "nvme2n1", "md0", "dm-0", "dm-1", "nvme1n1p1"])


def _nodes(children):
    return st.builds(
        lambda name, kind, serial, mount, below: a_node(name, kind, serial=serial, mount=mount, children=below),
        NAMES,
        st.sampled_from(["disk", "part", "raid0", "lvm", "loop", ""]),
        st.sampled_from([None, "vol0aaaaaaaaaaaaaaa1", "vol0aaaaaaaaaaaaaaa2"]),
        st.sampled_from([None, "/a"]),
        children,
    )


@given(
    st.lists(
        st.recursive(_nodes(st.just(())), lambda inner: _nodes(st.lists(inner, max_size=2)), max_leaves=6), max_size=4
    )
)
def test_whatever_a_tree_looks_like_no_stack_is_part_of_another(nodes):
    for stack in (told := found({"blockdevices": nodes})):
        assert stack.members == tuple(sorted(set(stack.members)))
        assert not any(stack.disks <= other.disks for other in told if other is not stack)
