"""The change of a template: one for all the volumes that it made, which carries the demand of each, and one saving."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll import VolumeSpec, replay
from plimsoll.domain.units import MIB
from plimsoll.domain.volume import Attachment, Owner, OwnerKind
from plimsoll.outcomes import Answered
from plimsoll.reports.answers import answered_record
from plimsoll.reports.template_text import template_texts
from plimsoll.reports.totals import RunTotals
from tests.builders import LONG_AGO, NOW, a_host, a_policy, a_volume, some_sums
from tests.pipelines.test_audit import DAYS, POLICY, START_S, a_world, outcomes
from tests.profiles import examples
from tests.unit.reports.plain_runs import a_run_record

ASG = Owner(kind=OwnerKind.AUTO_SCALING, name="web", details={"group": "web"})


def a_root(number, size_gib=8, *, created=LONG_AGO, owner=ASG, **fields):
    """The root of a node of its own."""
    name = f"i-{number}"
    host = a_host(id=name)
    one = Attachment(host=host, device="/dev/xvda", since=created, boot=True)
    return replace(
        a_volume("gp2", size_gib, id=f"vol-{number}", on=host, created=created, owner=owner, **fields),
        attachments=(one,),
    )


def minutes(iops, throughput_mib_s):
    """Sums of two days whose minutes have these rates; other minutes have none."""
    rates = [np.resize(np.asarray(one, dtype=float), DAYS * 1440) for one in (iops, throughput_mib_s)]
    return some_sums(start_s=START_S, write_ops=list(rates[0] * 60), write_bytes=list(rates[1] * 60 * MIB), buckets=0)


def audited(volumes, sums=None, policy=POLICY):
    """The records of an audit, and the changes of templates in its totals."""
    found = outcomes(a_world(volumes, sums), policy)
    records = [answered_record(one) for one in found if isinstance(one, Answered)]
    return {one.volume_id: one for one in records}, RunTotals.add_up(found).summary()


def test_volumes_that_save_too_little_each_are_one_change_with_one_saving():
    records, run = audited([a_root(number) for number in range(20)])
    assert {one.action for one in records.values()} == {"keep"}
    (change,) = run["templates"]
    assert change["target"] == {"type": "gp3", "iops": 3000, "throughput_mib_s": 125}
    assert (change["template"], change["device"], change["volumes"]) == ("web", "/dev/xvda", 20)
    # 8 GiB of gp2 are $0.80 a month, of gp3 $0.64.
    assert change["monthly_usd_saved"] == run["monthly_usd"]["saved_by_templates"] == 3.20
    assert run["monthly_usd"]["saved"] == 0
    (told,) = template_texts(a_run_record(**run))
    assert "20 volumes" in told.volumes
    assert "$3.20" in told.saves


@pytest.mark.parametrize(("volumes", "changes"), [(6, 0), (7, 1)])
def test_the_least_saving_is_asked_of_the_group(volumes, changes):
    _, run = audited([a_root(number) for number in range(volumes)])
    assert len(run["templates"]) == changes  # 7 times $0.16 are the first $1


def test_one_that_is_throttled_holds_all_back():
    roots = [a_root(number) for number in range(20)]
    _, run = audited(roots, {"vol-3": minutes(3000, 20)})
    assert run["templates"] == []


def test_one_that_nothing_cheaper_carries_holds_all_back():
    roots = [a_root(number) for number in range(20)]
    records, run = audited(roots, {"vol-3": minutes([100.0, 1000.0], [5.0, 122.0])})
    assert records["vol-3"].template.held is not None
    assert run["templates"] == []


def test_others_are_no_part_of_it():
    by_hand = [a_root(number, owner=Owner(kind=OwnerKind.HAND)) for number in range(20, 40)]
    others = [replace(a_root(number), owner=replace(ASG, name="db")) for number in range(40, 50)]
    records, run = audited([*(a_root(number) for number in range(20)), *by_hand, *others])
    assert [(one["template"], one["volumes"]) for one in run["templates"]] == [("web", 20), ("db", 10)]
    assert records["vol-20"].template is None


def test_what_a_volume_saves_alone_is_not_counted_twice():
    _, run = audited([a_root(1, 60), *(a_root(number) for number in range(2, 12))])
    (change,) = run["templates"]
    assert change["monthly_usd_saved"] == pytest.approx(1.20 + 10 * 0.16)
    assert change["monthly_usd_saved_beyond_volumes"] == pytest.approx(10 * 0.16)
    assert run["monthly_usd"]["saved"] == pytest.approx(1.20)


class TestNodesThatLiveShort:
    def lives(self, hours, number):
        """A node that began so many hours ago, and has written since."""
        begun = int(NOW.timestamp()) - hours * 3600
        count = hours * 60
        sums = some_sums(start_s=begun, write_ops=[6000.0] * count, write_bytes=[5.0 * 60 * MIB] * count, buckets=0)
        root = a_root(number, created=NOW - timedelta(hours=hours), restored_from="snap-1")
        return root, sums

    def audited(self, hours, nodes):
        found = [self.lives(hours, number) for number in range(nodes)]
        return audited([root for root, _ in found], {root.id: sums for root, sums in found})

    def test_they_are_judged_together(self):
        records, run = self.audited(6, 30)
        assert {one.action for one in records.values()} == {"insufficient-data"}
        (change,) = run["templates"]
        assert change["volumes_too_short_alone"] == 30
        assert change["hours_observed"] >= 168

    def test_all_of_them_together_need_a_week(self):
        assert self.audited(3, 54)[1]["templates"] == []
        assert self.audited(3, 60)[1]["templates"]


def rates(least, most):
    return st.lists(st.integers(least, most), min_size=1, max_size=4)


def carries(spec, sums):
    """Whether a configuration throttles nothing of a demand with headroom, or does all that a small gp2 ever can."""
    iops, mib_s = (np.asarray(one) / 60 * 1.2 for one in (sums.write_ops, sums.write_bytes))
    does_all = spec.iops >= 3000 and spec.throughput_mib_s >= 128
    return does_all or replay(spec, iops, mib_s / MIB).throttled_minutes == 0


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(8, 60), rates(600, 5000), rates(1, 140)), min_size=2, max_size=6))
def test_the_change_carries_every_demand_and_saves_what_list_prices_say(nodes):
    policy = a_policy(lookback_days=DAYS, min_saving_usd_month=0.5, size_on="average")
    roots = [a_root(number, size_gib) for number, (size_gib, _, _) in enumerate(nodes)]
    demand = {f"vol-{number}": minutes(iops, mib_s) for number, (_, iops, mib_s) in enumerate(nodes)}
    records, run = audited(roots, demand, policy)
    for change in run["templates"]:
        target = change["target"]
        assert target["type"] == "gp3"
        then = 0.0
        for root in roots:
            spec = VolumeSpec(size_gib=root.spec.size_gib, **target)
            extra = 0.005 * (spec.iops - 3000) + 0.04 * (spec.throughput_mib_s - 125)
            then += 0.08 * spec.size_gib + extra
            assert carries(spec, demand[root.id])
        now = sum(0.10 * root.spec.size_gib for root in roots)
        assert change["monthly_usd_saved"] == pytest.approx(now - then, abs=0.006)
        assert change["monthly_usd_saved"] >= 0.5
    parts = [one.template for one in records.values() if one.template is not None and one.template.offer is not None]
    if not run["templates"] and len(parts) == len(roots):
        small = sum(0.02 * root.spec.size_gib for root in roots) < 0.5
        own = all(one.action != "keep" for one in records.values())
        dear = any(one.offer.monthly_usd_iops + one.offer.monthly_usd_throughput > 0 for one in parts)
        assert small or own or dear
