"""Whatever goes wrong with Google's bench, no scratch disk is left that nobody is told of."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.faults import Effect, Fault
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.errors import PlimsollError, Unreachable
from plimsoll.model.task import ScratchOrder
from plimsoll_google.bench import GoogleBench
from plimsoll_measure.validation.scratch_volume import clean
from tests.builders import a_spec
from tests.contract.google_bench import google_bench
from tests.profiles import examples
from tests.scratch_block import scratch_volume

STEPS = (
    *("disks.insert", "disks.delete", "disks.aggregatedList", "disks.get", "zoneOperations.get"),
    *("instances.attachDisk", "instances.detachDisk", "instances.get", "instances.aggregatedList"),
)
HANGING = ("instances.attachDisk", "instances.detachDisk")
FAULTS = st.lists(
    st.one_of(
        st.builds(
            Fault,
            operation=st.sampled_from(STEPS),
            code=st.sampled_from(["UNAVAILABLE", "RESOURCE_EXHAUSTED", "INTERNAL", "PERMISSION_DENIED"]),
            times=st.integers(1, 5),
        ),
        st.builds(Fault, operation=st.sampled_from(HANGING), effect=st.just(Effect.HANGS), times=st.integers(1, 2)),
    ),
    max_size=4,
)
PATIENCE = BenchPatience(
    now=lambda: datetime.now(UTC),
    pause=lambda seconds: time.sleep(min(seconds, 0.02)),
    every_s=0.02,
    create_s=1.0,
    attach_s=0.5,
    detach_s=0.5,
)


@pytest.fixture(scope="module")
def here():
    with google_bench(attempts=1) as found:
        yield found


def an_order(here, number=[0]) -> ScratchOrder:  # noqa: B006  # each order is another
    number[0] += 1
    return ScratchOrder(
        validation_id=f"v-{number[0]}",
        account=here.home.account,
        region=here.home.region,
        zone=f"{here.home.region}-a",
        spec=a_spec("pd-ssd", 100),
        deadline=datetime.now(UTC) + timedelta(hours=4),
    )


def host_in(here, zone):
    (host,) = here.bench.hosts(here.home, [], [f"bench-{zone}"])
    return host


def strike(here, faults):
    here.cloud.faults.given = faults
    here.cloud.faults._struck.clear()


def what_is_there(here):
    return {disk.id for disk in here.writes.disks() if disk.status != "DELETING"}


@given(faults=FAULTS)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_disk_is_deleted_or_named(here, faults):
    order, left = an_order(here), []
    host = host_in(here, order.zone)
    strike(here, faults)
    try:
        with scratch_volume(order, host, here.home, bench=here.bench, patience=PATIENCE, left=left.append):
            pass
    except PlimsollError:
        pass
    strike(here, [])
    there = what_is_there(here)
    assert there <= {one.volume_id for one in left} or None in {one.volume_id for one in left}
    for _ in range(2):
        assert not list(clean(order.validation_id, here.home, bench=here.bench, patience=PATIENCE))
    assert not what_is_there(here)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetful(GoogleBench):
    """A bench whose answer to one step is lost after the step worked."""

    lost: str

    def create(self, order):
        made = GoogleBench.create(self, order)
        return self._lose("create", made)

    def attach(self, target, volume_id, host_id):
        self._lose("attach", GoogleBench.attach(self, target, volume_id, host_id))

    def _lose(self, step, answer):
        if step == self.lost:
            raise Unreachable("the answer was lost.")
        return answer


@pytest.mark.parametrize("lost", ["create", "attach"])
def test_a_step_that_worked_and_was_not_heard_of_leaves_no_disk(here, lost):
    order, left = an_order(here), []
    host = host_in(here, order.zone)
    bench = Forgetful(clients=here.clients, sleep=here.bench.sleep, lost=lost)
    with (
        pytest.raises(Unreachable),
        scratch_volume(order, host, here.home, bench=bench, patience=PATIENCE, left=left.append),
    ):
        pass
    assert left == []
    assert not what_is_there(here)


def test_ctrl_c_while_it_measures_leaves_no_disk(here):
    order, left = an_order(here), []
    host = host_in(here, order.zone)
    with (
        pytest.raises(KeyboardInterrupt),
        scratch_volume(order, host, here.home, bench=here.bench, patience=PATIENCE, left=left.append),
    ):
        raise KeyboardInterrupt
    assert (left, what_is_there(here)) == ([], set())


def test_a_name_that_no_label_holds_is_refused_before_anything_is_made(here):
    order = replace(an_order(here), validation_id="Not A Label")
    with pytest.raises(PlimsollError, match="Name the validation so"):
        here.bench.create(order)
    assert not what_is_there(here)
