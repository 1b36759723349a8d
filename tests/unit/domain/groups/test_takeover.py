"""Which volumes take over from one another, and what only looks so."""

from dataclasses import replace

import pytest

from plimsoll.auditing.decide import batch_by_host
from plimsoll.decide.groups import MOST_SUSPECTED, ToldBy, find_takeovers
from plimsoll.model.volume import Owner, OwnerKind
from tests.builders import NOW, a_host, a_volume

TAGS = ("plimsoll:takeover", "ha-group")


def named(name, **fields):
    host = a_host(id=fields.pop("host", f"i-{name}-{fields.get('zone', '')}"))
    return a_volume(
        "gp3", 500, iops=16_000, throughput_mib_s=500, id=f"v-{host.id}", on=host, tags={"Name": name}, **fields
    )


def told(*volumes, tags=TAGS):
    return [(one.told_by, one.name, len(one.volumes)) for one in find_takeovers(volumes, tags)]


def claim(name, namespace="db", cluster="prod", **fields):
    details = {"claim": name, "namespace": namespace, "cluster": cluster}
    return a_volume(
        id=f"{cluster}-{namespace}-{name}", owner=Owner(kind=OwnerKind.KUBERNETES, details=details), **fields
    )


def test_a_tag_of_the_policy_tells_by_its_value():
    volumes = [
        a_volume("gp3", 100, id="a", tags={"ha-group": "x"}),
        a_volume("io2", 900, id="b", tags={"ha-group": "x"}),
        a_volume(id="c", tags={"ha-group": "y"}),
        a_volume(id="d", tags={"ha-group": ""}),
        a_volume(id="e", tags={"ha-group": ""}),
    ]
    assert told(*volumes) == [(ToldBy.TAG, "ha-group=x", 2)]
    assert told(*volumes, tags=()) == []


@pytest.mark.parametrize("elsewhere", [{"account": "999988887777"}, {"region": "eu-west-1"}])
def test_nothing_takes_over_across_accounts_or_regions(elsewhere):
    tags = {"plimsoll:takeover": "x"}
    assert told(a_volume(id="a", tags=tags), a_volume(id="b", tags=tags, **elsewhere)) == []


def test_another_zone_is_no_hindrance():
    tags = {"plimsoll:takeover": "x"}
    assert told(a_volume(id="a", tags=tags), a_volume(id="b", tags=tags, zone="us-east-1c"))


def test_the_claims_of_a_stateful_set_of_one_cluster_and_namespace_are_told():
    same = [claim(f"data-pg-{number}") for number in range(3)]
    others = [
        claim("data-pg-3", namespace="test"),
        claim("data-pg-4", cluster="other"),
        claim("wal-pg-0"),
        claim("home"),
    ]
    assert told(*same, *others) == [(ToldBy.STATEFUL_SET, "db/data-pg", 3)]


def of_group(name, number, device="/dev/xvda"):
    host = replace(a_host(id=f"{name}-{number}"), running_since=NOW)
    volume = a_volume(
        id=f"{name}-{number}-{device}",
        on=host,
        created=NOW,
        owner=Owner(kind=OwnerKind.AUTO_SCALING, name=name, details={"group": name}),
    )
    return replace(volume, attachments=tuple(replace(one, device=device) for one in volume.attachments))


def test_an_auto_scaling_group_is_told_by_device_and_its_blue_is_that_of_its_green():
    volumes = [
        of_group("web-blue", 1),
        of_group("web-green", 1),
        of_group("web-green", 2, "/dev/sdf"),
        of_group("api", 1),
    ]
    assert told(*volumes) == [(ToldBy.AUTO_SCALING, "web-*", 2)]


def test_a_launch_template_alone_is_no_group():
    volumes = [
        replace(of_group("lt", number), owner=Owner(kind=OwnerKind.AUTO_SCALING, name="lt")) for number in (1, 2)
    ]
    assert told(*volumes) == []


def test_blue_and_green_are_told_by_their_names_where_both_are_there():
    assert told(named("shop-blue"), named("shop-green")) == [(ToldBy.BLUE_GREEN, "shop-*", 2)]
    assert told(named("Shop.Blue.data"), named("shop.green.data")) == [(ToldBy.BLUE_GREEN, "shop.*.data", 2)]
    assert told(named("shop-blue", host="i-1"), named("shop-blue", host="i-2")) == []
    assert told(named("bluebird-1"), named("greenhouse-1")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("db-1", "db-2"),
        ("db1", "db2"),
        ("db-us-east-1a", "db-us-east-1b"),
        ("db-a", "db-b"),
        ("db-primary", "db-standby"),
    ],
)
def test_a_number_a_zone_or_a_role_makes_suspicious(one, other):
    zones = "us-east-1a", "us-east-1b"
    pair = [named(name, zone=zone) for name, zone in zip((one, other), zones, strict=True)]
    ((told_by, name, count),) = told(*pair)
    assert (told_by, name, count) == (ToldBy.NAME, "db", 2)


def test_one_name_in_two_zones_is_suspicious_and_in_one_is_not():
    assert told(named("data", zone="us-east-1a"), named("data", zone="us-east-1b"))
    assert not told(named("data", host="i-1"), named("data", host="i-2"))


@pytest.mark.parametrize("different", [{"size_gib": 501}, {"type": "io2", "iops": 16_000, "throughput_mib_s": None}])
def test_another_size_or_type_is_not_suspicious(different):
    one, other = named("db-1"), named("db-2")
    assert told(one, replace(other, spec=replace(other.spec, **different))) == []


def test_a_fleet_of_workers_is_not_suspicious():
    many = [named(f"worker-{number}") for number in range(MOST_SUSPECTED + 1)]
    assert told(*many) == []
    assert told(*many[1:]) == [(ToldBy.NAME, "worker", MOST_SUSPECTED)]


def test_numbers_alone_are_no_name():
    assert told(named("1"), named("2")) == []


def test_only_other_hosts_are_suspected():
    here, there, beside = (
        named("db-1", host="i-1"),
        named("db-2", host="i-2"),
        replace(named("db-3", host="i-1"), id="x"),
    )
    (found,) = find_takeovers([here, there, beside], TAGS)
    assert [one.id for one in found.others(here)] == [there.id]
    assert {one.id for one in found.others(there)} == {here.id, "x"}


def test_what_is_decided_together_is_in_one_batch_with_all_that_is_on_its_hosts():
    hosts = [a_host(id=f"i-{number}") for number in range(6)]
    volumes = [a_volume(id=f"{host.id}/{number}", on=host) for host in hosts for number in range(2)]
    together = [(volumes[0], volumes[4]), (volumes[5], volumes[11])]
    batches = list(batch_by_host(volumes, 2, together))
    assert sorted(volume.id for batch in batches for volume in batch) == sorted(volume.id for volume in volumes)
    ((whole),) = [batch for batch in batches if volumes[0] in batch]
    assert {volume.id.split("/")[0] for volume in whole} == {"i-0", "i-2", "i-5"}
    assert len(whole) == 6
    assert [len(batch) for batch in batches if batch is not whole] == [2, 2, 2]
