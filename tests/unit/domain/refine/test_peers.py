"""An answer rests on those that the volume takes over from, however little is read of any."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change
from plimsoll.decide.groups import ToldBy, find_takeovers
from plimsoll.model.errors import CloudError, Throttled
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Owner, OwnerKind
from tests.builders import NOW, a_host, a_spec, a_volume
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.refine.test_branch_and_bound import (
    DAYS,
    HOSTS,
    MINUTES,
    PASTS,
    POLICIES,
    TARIFFS,
    assert_same,
    judged,
    minutes_of,
    one_hot_minute,
    series,
)

PLAIN = Policy(lookback_days=DAYS)
TAGGED = {"plimsoll:takeover": "pair"}
LARGE = a_spec("gp3", 500, iops=16_000, throughput_mib_s=500)


def pair(tags=TAGGED, spec=LARGE, **fields):
    """The busy one and the other, each on a host of its own."""
    names = ("db-1", "db-2")
    return [
        a_volume(
            spec.type,
            spec.size_gib,
            iops=spec.iops,
            throughput_mib_s=spec.throughput_mib_s,
            id=name,
            on=a_host(id=f"i-{name}"),
            tags={"Name": name, **tags},
            **fields,
        )
        for name in names
    ]


def answers(volumes, sums, policy=PLAIN, **how):
    takeovers = find_takeovers(volumes, policy.takeover_tags)
    part, read = judged(volumes, sums, policy, takeovers=takeovers, **how)
    whole, everything = judged(volumes, sums, policy, takeovers=takeovers, every_minute=True, **how)
    assert read.datapoints < 1.1 * everything.datapoints
    for name, exact in whole.items():
        if isinstance(exact, CloudError):
            assert isinstance(part[name], CloudError)
        else:
            assert decided_on(part[name]) == decided_on(exact), name
    return part


def figures(answer):
    spec = answer.recommendation.target.spec
    return spec.type, spec.iops, spec.throughput_mib_s


BUSY = minutes_of(one_hot_minute(12_000.0, flat=200.0))
QUIET = minutes_of(one_hot_minute(300.0, flat=20.0))


def test_the_standby_of_a_busy_primary_is_given_what_that_needs():
    found = answers(pair(), {"db-1": BUSY, "db-2": QUIET})
    assert figures(found["db-1"]) == figures(found["db-2"]) == ("gp3", 14_400, 225)
    peer = found["db-2"].recommendation.peer
    assert (peer.volume.id, peer.takeover.told_by, peer.need.iops) == ("db-1", ToldBy.TAG, 14_400)
    assert found["db-1"].recommendation.peer is None


def test_without_the_tag_its_owner_decides_and_the_answer_names_the_other():
    found = answers(pair(tags={}), {"db-1": BUSY, "db-2": QUIET})
    assert figures(found["db-2"]) == ("gp3", 3000, 125)
    assert found["db-2"].recommendation.peer.volume.id == "db-1"
    assert found["db-2"].recommendation.peer.takeover.is_suspected
    assert found["db-1"].recommendation.peer is None


@pytest.mark.parametrize(("peak", "is_suspected"), [(1199.0, True), (1200.0, False)])
def test_under_a_tenth_is_under_a_tenth_however_little_was_read(peak, is_suspected):
    sums = {"db-1": BUSY, "db-2": minutes_of(one_hot_minute(peak, flat=20.0, at=77))}
    found = answers(pair(tags={}), sums)
    assert (found["db-2"].recommendation.peer is not None) is is_suspected


def test_the_peak_of_the_other_on_its_own_host_is_read_where_that_decides():
    """The busy one is too new to be reduced, so that nothing of its own asks for its peak."""
    busy, quiet = pair(tags={}, spec=a_spec("gp2", 5500))
    busy = replace(busy, created=NOW - timedelta(days=4))
    sums = {"db-1": minutes_of(one_hot_minute(1250.0, flat=5.0)), "db-2": minutes_of(np.full(MINUTES, 3.0))}
    found = answers([busy, quiet], sums)
    assert found["db-1"].recommendation.target.spec.iops == 16_000
    assert found["db-2"].recommendation.peer.volume.id == "db-1"


def test_what_is_on_one_host_is_not_suspected():
    volumes = [replace(volume, attachments=pair()[0].attachments) for volume in pair(tags={})]
    found = answers(volumes, {"db-1": BUSY, "db-2": QUIET})
    assert found["db-2"].recommendation.peer is None


@pytest.mark.parametrize("tags", [TAGGED, {}])
def test_a_peer_that_could_not_be_read_is_named(tags):
    found = answers(pair(tags=tags), {"db-1": BUSY, "db-2": QUIET}, broken={"db-1": Throttled("asked too often.")})
    answer = found["db-2"].recommendation
    assert (answer.peer.volume.id, answer.peer.unknown) == ("db-1", "could not be read")
    assert "db-1" in " ".join(answer.reasons)
    assert answer.action == ("keep" if tags else "reprovision")


def test_a_peer_that_could_not_be_read_leaves_drop_ins_and_relief_as_they_are():
    sums = {"db-1": BUSY, "db-2": minutes_of(np.full(MINUTES, 50.0))}
    broken = {"db-1": Throttled("asked too often.")}
    found = answers(pair(spec=a_spec("gp2", 500)), sums, broken=broken)
    assert figures(found["db-2"]) == ("gp3", 3000, 250)  # gp2 of 500 GiB carries 250 MiB/s
    flags = {"iops_exceeded": np.ones(MINUTES)}
    sums["db-2"] = minutes_of(np.full(MINUTES, 3000.0), io_kib=4.0, **flags)
    found = answers(pair(spec=a_spec("gp3", 500, iops=3000, throughput_mib_s=125)), sums, broken=broken)
    assert found["db-2"].recommendation.action == "upgrade"


def test_a_peer_that_is_excluded_stays_as_it_is_and_so_must_the_other_be_able_to():
    found = answers(pair(), {"db-1": BUSY, "db-2": QUIET}, decided={"db-2"})
    assert found["db-2"].recommendation.action == "keep"


def test_a_peer_whose_host_was_stopped_throughout_asks_for_nothing():
    stopped = replace(a_host(id="i-db-1"), stopped_since=NOW.replace(year=2025))
    volumes = pair()
    volumes[0] = replace(volumes[0], attachments=(replace(volumes[0].attachments[0], host=stopped),))
    absent = minutes_of(np.full(MINUTES, np.nan))
    sums = {"db-1": absent.with_series(read_ops=absent.write_ops, read_bytes=absent.write_ops), "db-2": QUIET}
    found = answers(volumes, sums)
    assert found["db-1"].recommendation.action == "insufficient-data"
    assert figures(found["db-2"]) == ("gp3", 3000, 125)


def test_a_node_that_lives_too_short_for_an_answer_counts_with_what_it_did():
    volumes = []
    for number, hours in ((1, 5), (2, 9000)):
        made = NOW.replace(hour=NOW.hour - 5) if hours == 5 else NOW.replace(year=2025)
        host = replace(a_host(id=f"i-{number}"), running_since=made)
        owner = Owner(kind=OwnerKind.AUTO_SCALING, name="nodes", details={"group": "nodes"})
        volume = a_volume(
            "gp3", 500, iops=16_000, throughput_mib_s=500, id=f"db-{number}", on=host, created=made, owner=owner
        )
        volumes.append(replace(volume, attachments=(replace(volume.attachments[0], since=made),)))
    sums = {"db-1": minutes_of(np.r_[np.full(MINUTES - 300, np.nan), np.full(300, 6000.0)]), "db-2": QUIET}
    done = {name: np.where(np.isnan(sums["db-1"].write_ops), np.nan, 0.0) for name in ("read_ops", "read_bytes")}
    sums["db-1"] = sums["db-1"].with_series(**done)
    found = answers(volumes, sums)
    assert found["db-1"].recommendation.action == "insufficient-data"
    assert figures(found["db-2"]) == ("gp3", 7200, 125)


SPECS = st.sampled_from(
    [
        a_spec("gp2", 500),
        a_spec("gp2", 5500),
        LARGE,
        a_spec("gp3", 500, iops=6000, throughput_mib_s=250),
        a_spec("io1", 500, iops=12_000),
        a_spec("io2", 500, iops=20_000),
    ]
)


@st.composite
def peers(draw):
    """Two or three volumes that take over from one another or may, on hosts of their own or two on one."""
    volumes, sums, alike = [], {}, draw(SPECS)
    tags = draw(st.sampled_from([TAGGED, TAGGED, {}]))
    for number in range(draw(st.integers(2, 3))):
        spec = draw(SPECS) if tags else alike
        host = a_host(draw(HOSTS), id=f"i-{number}")
        volume = a_volume(
            spec.type,
            spec.size_gib,
            iops=spec.iops,
            throughput_mib_s=spec.throughput_mib_s,
            id=f"vol-{number}",
            on=volumes[0].hosts[0] if number == 2 and draw(st.booleans()) else host,
            tags={"Name": f"db-{number}", **tags},
            **draw(PASTS),
        )
        volumes.append(volume)
        sums[volume.id] = draw(series(spec))
    return volumes, sums, draw(POLICIES), draw(TARIFFS)


@settings(
    max_examples=examples(600),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(peers())
def test_whatever_is_left_unread_of_any_the_answers_are_those_of_every_minute(fleet):
    volumes, sums, policy, query_cost = fleet
    takeovers = find_takeovers(volumes, policy.takeover_tags)
    part, _ = judged(volumes, sums, policy, query_cost, takeovers=takeovers)
    whole, _ = judged(volumes, sums, policy, every_minute=True, takeovers=takeovers)
    assert_same(part, whole, policy)


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(peers())
def test_no_reduction_leaves_less_than_any_other_will_have_or_than_it_had(fleet):
    volumes, sums, policy, _ = fleet
    takeovers = [one for one in find_takeovers(volumes, policy.takeover_tags) if not one.is_suspected]
    found = {name: one.recommendation for name, one in judged(volumes, sums, policy, takeovers=takeovers)[0].items()}
    # Of each what it will have by the answer to it alone: a cheaper replacement may give more than others ask for.
    alone = {name: one.recommendation for name, one in judged(volumes, sums, policy)[0].items()}
    sizes = {
        name: one.target.ceiling if isinstance(one, Change) else one.comparison.present
        for name, one in alone.items()
        if one.comparison is not None
    }
    for takeover in takeovers:
        for volume in takeover.volumes:
            answer = found[volume.id]
            known = [sizes[other.id] for other in takeover.others(volume) if other.id in sizes]
            if not known or not isinstance(answer, Change) or answer.action == "upgrade":
                continue
            for side in ("iops", "throughput_mib_s"):
                then, now = getattr(answer.target.ceiling, side), getattr(answer.comparison.present, side)
                others = max(getattr(ceiling, side) for ceiling in known)
                assert then >= min(now, others) - 1e-6 or then >= now - 1e-6, (volume.id, side)
