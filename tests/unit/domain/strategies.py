"""Volumes, demands and policies as they could be met, for laws that hold of all of them."""

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from plimsoll.model.market import Provisioned
from plimsoll.model.policy import SizeOn
from plimsoll.model.volume import ceiling_of_hosts
from tests.builders import HOST_FIGURES, TYPES, a_demand, a_host, a_policy, a_volume, ceiling_of

ALL_TYPES = tuple(TYPES)
ALL_HOSTS = tuple(sorted(HOST_FIGURES))
SHARES = st.one_of(st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.8, 0.94, 0.96, 1.0]), st.floats(0, 1))
QUIET = st.floats(0, 0.7)
AT_THE_CEILING = st.sampled_from([0.96, 0.98, 1.0])

SOMETIMES = st.booleans()
NEVER = st.just(value=False)
RARELY = st.sampled_from([False, False, False, True])
BALANCES_PCT = st.sampled_from([100.0, 50.0, 0.0, math.nan])
HEADROOMS_PCT = st.floats(0, 100)


@st.composite
def volumes(draw, types: Sequence[str] = ALL_TYPES, hosts: Sequence[str] = ALL_HOSTS):
    """A volume of any size and provisioning that is sold, on one host or, where its type can, on two."""
    kind = TYPES[draw(st.sampled_from(types))]
    size_gib = draw(st.one_of(st.integers(1, 2000), st.integers(1, 65_536)))
    size_gib = min(max(size_gib, kind.least_size_gib), kind.most_size_gib)
    iops = throughput_mib_s = None
    if isinstance(kind.iops, Provisioned):
        iops = draw(st.integers(kind.iops.least, kind.iops.most_at(size_gib)))
    if isinstance(kind.throughput, Provisioned):
        most = kind.throughput.most_at(size_gib, iops)
        throughput_mib_s = draw(st.integers(kind.throughput.least, most))
    host_types = draw(st.lists(st.sampled_from(hosts), min_size=1, max_size=1 + kind.multi_attach))
    there = [a_host(host_type, id=f"i-{index}") for index, host_type in enumerate(host_types)]
    boot = kind.boots and len(there) == 1 and draw(st.booleans())
    return a_volume(kind.name, size_gib, iops=iops, throughput_mib_s=throughput_mib_s, on=there, boot=boot)


@st.composite
def demands_on(draw, volume, *, share=SHARES, quiet=False):
    """A demand that the volume's published ceiling and its hosts could have carried, seen in up to a dozen buckets.

    `share` of what it could have. A quiet one stays under seven tenths, and no check or balance says otherwise.
    """
    present, hosts = ceiling_of(volume), ceiling_of_hosts(volume)
    iops = min(present.iops, hosts.iops)
    throughput = min(present.throughput_mib_s, hosts.throughput_mib_s, present.iops * present.io_kib / 1024)
    share = QUIET if quiet else share
    shares = draw(st.lists(st.tuples(share, share), min_size=1, max_size=12))
    buckets = len(shares)

    def some(values, often):
        return draw(st.lists(values, min_size=buckets, max_size=buckets)) if draw(often) else None

    observed = some(st.booleans(), SOMETIMES) or [True] * buckets
    return a_demand(
        iops=[whole_sum(share * iops) for share, _ in shares],
        throughput_mib_s=[whole_sum(share * throughput) for _, share in shares],
        observed=observed,
        resolution_s=draw(st.sampled_from([60, 3600])),
        **{
            name: found
            for name, found in {
                "busy_share": some(st.floats(1 / 60, 1), SOMETIMES),
                "burst_balance_pct": some(BALANCES_PCT, SOMETIMES) if present.buckets and not quiet else None,
                "iops_exceeded": some(st.booleans(), NEVER if quiet else RARELY),
                "throughput_exceeded": some(st.booleans(), NEVER if quiet else RARELY),
            }.items()
            if found is not None
        },
    )


def whole_sum(rate):
    """The rate of whole operations, or MiB, in a minute."""
    return math.floor(rate * 60) / 60


@st.composite
def policies(draw, *, headrooms_pct=HEADROOMS_PCT, **keys):
    """A policy that asks for no least hours, with headroom, size_on and target types as they come."""
    return a_policy(
        **{
            "min_hours": 0,
            "headroom_pct": draw(headrooms_pct),
            "size_on": draw(st.sampled_from(SizeOn)),
            "target_types": draw(st.sampled_from([("gp3",), ("gp3", "io2"), ("gp3", "io2", "st1", "sc1"), ALL_TYPES])),
            **keys,
        }
    )


@st.composite
def situations(draw, *, types: Sequence[str] = ALL_TYPES, policy=None, **demand):
    """A volume, a demand on it (as `demands_on` takes it), and a policy."""
    volume = draw(volumes(types))
    return volume, draw(demands_on(volume, **demand)), draw(policies() if policy is None else policy)
