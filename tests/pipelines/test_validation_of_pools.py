"""Validation where volumes share what they carry and a write is not what a read is: Google's published types."""

from dataclasses import replace

import pytest

from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import BadInput
from plimsoll.model.units import MIB
from plimsoll.model.volume import Host
from plimsoll_google.machines import machine
from plimsoll_measure.runs import Mode
from plimsoll_measure.validate import ConcludedRun, RevisedAnswer, UnmeasuredRun
from tests.builders import a_policy, a_volume, some_sums
from tests.in_memory.ports import MemoryCatalog, MemoryPrices

from .lab import DAYS, START_S, Lab, the, work
from .test_audit import a_world

POLICY = a_policy(lookback_days=DAYS, min_saving_usd_month=0)


def a_vm(name="vm-1", type_name="n2-standard-8"):
    found = machine(type_name)
    return Host(id=name, type=type_name, limits=found.limits, caps=found.caps)


def a_disk(type_name, size_gib, name, *, on=None):
    return a_volume(
        type_name, size_gib, id=name, on=on or a_vm(), account="shop", region="us-central1", zone="us-central1-b"
    )


class GoogleLab(Lab):
    """A project in memory, with Google's types, prices and machines."""

    types = volume_types("google")
    provider = GOOGLE

    def __init__(self, folder, *disks, bench_type="n2-standard-80", **more):
        self.bench_type = bench_type
        super().__init__(folder, *disks, **{"policy": POLICY, "latency_us": {}, **more})

    def a_bench_host(self):
        return a_vm("vm-bench", self.bench_type)

    def a_world(self, volumes, metrics):
        return replace(
            a_world(volumes, metrics=metrics),
            prices=MemoryPrices(books={"us-central1": shipped_prices("google").book("us-central1")}),
            catalog=MemoryCatalog(types=self.types, provider=GOOGLE),
        )


def writes(iops, throughput_mib_s):
    minutes = DAYS * 1440
    return some_sums(
        start_s=START_S, write_ops=[iops * 60] * minutes, write_bytes=[throughput_mib_s * 60 * MIB] * minutes
    )


def first_line(events):
    """The verdict on what was asked for; what is recommended then may be measured in turn."""
    return next(event.line for event in events if isinstance(event, ConcludedRun))


def test_disks_that_are_to_share_a_pool_are_measured_as_one_as_large_and_asked_for_what_all_need(tmp_path):
    pair = a_disk("pd-ssd", 200, "a"), a_disk("pd-ssd", 200, "b")
    lab = GoogleLab(tmp_path, *pair, work_of={"a": work(2000.0, 16.0), "b": work(1000.0, 8.0)})
    events = lab.validate("a")
    line = the(ConcludedRun, events).line
    assert (line.spec.type, line.spec.size_gib, line.passed) == ("pd-balanced", 400, True)
    assert (line.shown_iops, line.shown_throughput_mib_s) == (3000 + 6 * 400, pytest.approx(140 + 0.28 * 400))
    assert line.reasons[0] == "delivered 5,400 IOPS of the 3,600 that are needed, headroom included"
    assert line.reasons[-1] == "one volume of 400 GiB, for all that would share its limit on their host"
    decided = the(RevisedAnswer, events)
    assert (decided.after.target.size_gib, decided.after.evidence.grade) == (200, "A")
    assert not lab.leaked


def test_a_pool_that_delivers_less_than_all_of_it_needs_fails_for_each_of_its_disks(tmp_path):
    """One of them alone would be carried by what was measured."""
    pair = a_disk("pd-ssd", 200, "a"), a_disk("pd-ssd", 200, "b")
    works = {"a": work(2000.0, 16.0), "b": work(1000.0, 8.0)}
    lab = GoogleLab(tmp_path, *pair, work_of=works, shares={"pd-balanced": 0.6})
    events = lab.validate("a")
    line = first_line(events)
    assert (line.spec.type, line.passed) == ("pd-balanced", False)
    assert line.shown_iops == pytest.approx(0.6 * 5400)  # of 3,600; 2,400 are what `a` needs
    assert (the(RevisedAnswer, events).after.target or the(RevisedAnswer, events).after.current).type != "pd-balanced"


def test_all_of_a_pool_are_one_run_and_are_decided_again_together(tmp_path):
    pair = a_disk("pd-ssd", 200, "a"), a_disk("pd-ssd", 200, "b")
    lab = GoogleLab(tmp_path, *pair, work_of={"a": work(2000.0, 16.0), "b": work(1000.0, 8.0)})
    events = lab.validate_all()
    assert the(ConcludedRun, events).line.spec.size_gib == 400
    assert {one.after.volume_id: one.after.evidence.grade for one in events if isinstance(one, RevisedAnswer)} == {
        "a": "A",
        "b": "A",
    }


def test_what_is_decided_again_still_says_whose_cloud_it_is(tmp_path):
    lab = GoogleLab(tmp_path, a_disk("pd-ssd", 200, "a"), work_of={"a": work(2000.0, 16.0)})
    assert the(RevisedAnswer, lab.validate_all()).after.provider == GOOGLE
    decided = the(RevisedAnswer, lab.validate("a"))
    assert (decided.before.provider, decided.after.provider) == (GOOGLE, GOOGLE)


def test_a_disk_alone_on_its_host_is_measured_by_its_own_size(tmp_path):
    lab = GoogleLab(tmp_path, a_disk("pd-ssd", 200, "a"), work_of={"a": work(2000.0, 16.0)})
    line = the(ConcludedRun, lab.validate("a")).line
    assert line.spec.size_gib == 200
    assert not any("one volume of" in reason for reason in line.reasons)


@pytest.mark.parametrize("mode", [Mode.COPY, Mode.IN_PLACE])
def test_one_disk_of_a_pool_shows_nothing_of_it_by_a_copy_or_in_place(tmp_path, mode):
    pair = a_disk("pd-ssd", 200, "a"), a_disk("pd-ssd", 200, "b")
    lab = GoogleLab(tmp_path, *pair)
    with pytest.raises(BadInput, match=r"a shares one ceiling with all 400 GiB of pd-.*--mode canary"):
        lab.validate("a", mode=mode)


def test_writes_are_asked_for_and_judged_as_the_target_counts_them(tmp_path):
    """Google's pd-standard reads 0.75 operations a second for each GiB and writes twice as many."""
    lab = GoogleLab(tmp_path, a_disk("pd-ssd", 2000, "a"), work_of={"a": writes(2000.0, 16.0)})
    line = first_line(lab.validate("a", "pd-standard"))
    assert line.passed, line.reasons
    assert line.shown_iops == pytest.approx(0.75 * 2000)  # 3,000 written operations
    assert line.reasons[0] == "delivered 1,500 IOPS of the 1,200 that are needed, headroom included"
    assert line.reasons[-1].startswith("counted in reads: a written operation is 0.5 of a read one")
    task = lab.tasks[0]
    rates = [int(text.split("=")[1]) for text in task.job.splitlines() if text.startswith("rate=")]
    assert max(rates) == pytest.approx(16 * MIB)  # what the workload writes


def test_a_target_that_is_too_small_for_what_is_written_fails(tmp_path):
    lab = GoogleLab(tmp_path, a_disk("pd-ssd", 1000, "a"), work_of={"a": writes(2000.0, 16.0)})
    line = first_line(lab.validate("a", "pd-standard"))
    assert not line.passed
    assert line.failures[0].startswith("delivered only 750 IOPS of the 1,200")


def test_a_disk_that_carries_more_than_its_host_lets_through_is_proved_by_measuring_it_whole(tmp_path):
    """500 GiB of pd-balanced carry 280 MiB/s, and a VM of 4 vCPUs of N2 lets 240 through."""
    vm = a_vm(type_name="n2-standard-4")
    lab = GoogleLab(tmp_path, a_disk("pd-ssd", 500, "a", on=vm), work_of={"a": work(3000.0, 180.0)})
    events = lab.validate("a")
    assert the(ConcludedRun, events).line.shown_throughput_mib_s == pytest.approx(280)
    after = the(RevisedAnswer, events).after
    assert (after.target.type, after.evidence.grade) == ("pd-balanced", "A"), after.evidence.text


def test_a_type_that_is_kept_in_two_zones_is_not_measured_by_a_disk_in_one(tmp_path):
    lab = GoogleLab(tmp_path, a_disk("regional-pd-ssd", 400, "a"))
    found = the(UnmeasuredRun, lab.validate("a", "regional-pd-balanced"))
    assert "is kept in 2 zones, and a scratch volume is made in one" in str(found.error)
    assert not lab.leaked


def test_what_a_size_includes_at_least_can_be_named_and_less_is_refused(tmp_path):
    lab = GoogleLab(
        tmp_path, a_disk("pd-ssd", 500, "a"), work_of={"a": work(2000.0, 16.0)}, bench_type="c3-standard-44"
    )
    with pytest.raises(BadInput, match=r"IOPS must be from 3,000 to"):
        lab.validate("a", "hyperdisk-balanced:100")
    line = first_line(lab.validate("a", "hyperdisk-balanced"))
    assert (line.spec.iops, line.spec.throughput_mib_s) == (3000, 140)
