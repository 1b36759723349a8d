import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.auditing.decide import batch_by_host
from plimsoll.demand.demand import IOPS, MIB_S
from plimsoll.demand.host_room import host_loads
from plimsoll.model.volume import ceiling_of_hosts, sole_host
from tests.builders import a_demand, a_host, a_volume

HOSTS = st.lists(st.integers(0, 5), max_size=2, unique=True)


@st.composite
def fleets(draw):
    placements = draw(st.lists(HOSTS, max_size=30))
    return [
        a_volume(id=f"vol-{index}", on=[a_host(id=f"i-{host}") for host in hosts])
        for index, hosts in enumerate(placements)
    ]


@given(fleets(), st.integers(1, 10))
def test_batches_hold_every_volume_once_and_part_no_host(fleet, size):
    batches = list(batch_by_host(fleet, size))
    assert sorted(volume.id for batch in batches for volume in batch) == sorted(volume.id for volume in fleet)
    homes: dict[str, int] = {}
    for number, batch in enumerate(batches):
        for host in filter(None, map(sole_host, batch)):
            assert homes.setdefault(host.id, number) == number


@given(fleets(), st.integers(1, 10))
def test_a_batch_is_larger_than_asked_only_for_one_host(fleet, size):
    for batch in batch_by_host(fleet, size):
        homes = {host.id if (host := sole_host(volume)) else volume.id for volume in batch}
        assert len(batch) <= size or len(homes) == 1
        assert batch


def test_a_volume_has_a_sole_host_only_when_there_is_one_and_it_is_known():
    host = a_host()
    assert sole_host(a_volume(on=host)) == host
    assert sole_host(a_volume(on=[])) is None
    assert sole_host(a_volume(on=[None])) is None
    assert sole_host(a_volume(on=[host, a_host(id="i-2")])) is None
    assert sole_host(a_volume(on=[host, None])) is None


def test_a_hosts_load_is_the_sum_of_the_volumes_that_have_no_other_host():
    one, other = a_host(id="i-1"), a_host(id="i-2")
    volumes = [
        a_volume(id="a", on=one),
        a_volume(id="b", on=one),
        a_volume(id="elsewhere", on=other),
        a_volume(id="shared", on=[one, other]),
        a_volume(id="unread", on=one),
    ]
    demands = {
        "a": a_demand(iops=[1, 2], throughput_mib_s=[10, 20]),
        "b": a_demand(iops=[100, 200], throughput_mib_s=[0, 5]),
        "elsewhere": a_demand(iops=[7, 7]),
        "shared": a_demand(iops=[9, 9]),
    }
    loads = host_loads(volumes, demands)
    assert set(loads) == {"i-1", "i-2"}
    assert np.array_equal(loads["i-1"].rates[IOPS], [101, 202])
    assert np.array_equal(loads["i-1"].rates[MIB_S], [10, 25])
    assert np.array_equal(loads["i-2"].rates[IOPS], [7, 7])


def test_the_hosts_of_a_volume_carry_the_sum_of_their_maxima():
    one, two = a_host("m5.large", id="i-1"), a_host("r5b.large", id="i-2")
    assert ceiling_of_hosts(a_volume(on=one)).iops == 18_750
    assert ceiling_of_hosts(a_volume("io2", on=[one, two])).iops == 18_750 + 43_333


@pytest.mark.parametrize("hosts", [[], [None], [a_host(), None], [a_host("t2.micro")]])
def test_a_host_that_is_not_known_or_without_published_limits_bounds_nothing(hosts):
    assert ceiling_of_hosts(a_volume("io2", on=hosts)).iops == math.inf
