"""Updates of simulated Hyperdisks: their figures, their operations, how often, and what they then carry."""

from datetime import timedelta

import numpy as np
import pytest

from cloud_simulator.clock import RunningClock
from cloud_simulator.google.disk_updates import UPDATING_S
from cloud_simulator.google.fleet import disk_truth
from cloud_simulator.google.serving import Cloud, serve
from cloud_simulator.published import Window
from plimsoll_google.clients import Clients
from tests.unit.cloud_simulator.google.hyperdisks import CACHE, HERE, LOGS, NOW, OTHER, REQUEST, a_fleet

BUSY = {**CACHE, "low": 5000, "high": 6000, "io_kib": 4}


@pytest.fixture
def cloud():
    return Cloud(a_fleet(BUSY, LOGS))


def path_of(cloud, name="cache-data", operations=False):
    disk = next(disk for disk in cloud.fleet.volumes if disk.name == name)
    return (
        f"/compute/v1/projects/{HERE.account}/zones/{disk.zones[0]}/{'operations' if operations else f'disks/{name}'}"
    )


def ask(cloud, *paths, request_id=REQUEST, name="cache-data", **figures):
    query = "&".join([f"requestId={request_id}", *(f"paths={each}" for each in paths)])
    body = str({key: str(value) for key, value in figures.items()}).replace("'", '"').encode()
    return cloud.front.answer("PATCH", f"{path_of(cloud, name)}?{query}", body)


def shown(cloud):
    _, disk = cloud.front.answer("GET", path_of(cloud), b"")
    return disk["provisionedIops"], disk["provisionedThroughput"]


def test_both_figures_change_in_one_call_once_it_is_done(cloud):
    figures = {"provisionedIops": 3000, "provisionedThroughput": 140}
    status, operation = ask(cloud, *figures, **figures)
    assert (status, operation["status"], operation["clientOperationId"]) == (200, "RUNNING", REQUEST)
    assert shown(cloud) == ("9000", "400")
    cloud.time.pause(UPDATING_S)
    assert shown(cloud) == ("3000", "140")
    _, listed = cloud.front.answer("GET", f"{path_of(cloud, operations=True)}?filter=(targetId%20%3D%201)", b"")
    assert listed["items"] == []
    _, listed = cloud.front.answer("GET", path_of(cloud, operations=True), b"")
    assert [(each["name"], each["status"]) for each in listed["items"]] == [(operation["name"], "DONE")]


def test_what_no_path_names_stays(cloud):
    ask(cloud, "provisionedThroughput", provisionedIops=3000, provisionedThroughput=200)
    cloud.time.pause(UPDATING_S)
    assert shown(cloud) == ("9000", "200")


def test_a_repeated_request_is_the_same_operation_and_another_is_too_early(cloud):
    _, first = ask(cloud, "provisionedIops", provisionedIops=4000)
    _, again = ask(cloud, "provisionedIops", provisionedIops=4000)
    assert first["name"] == again["name"]
    cloud.time.pause(4 * 3600 - 60)
    status, refused = ask(cloud, "provisionedIops", request_id=OTHER, provisionedIops=5000)
    assert (status, refused["error"]["errors"][0]["reason"]) == (400, "resourceOperationRateExceeded")
    cloud.time.pause(61)
    assert ask(cloud, "provisionedIops", request_id=OTHER, provisionedIops=5000)[0] == 200


@pytest.mark.parametrize(
    ("paths", "figures"),
    [((), {}), (("sizeGb",), {"sizeGb": 700}), (("provisionedIops",), {})],
)
def test_other_fields_and_missing_figures_are_refused(cloud, paths, figures):
    assert ask(cloud, *paths, **figures)[0] == 400
    assert cloud.updates.made == []


def test_a_persistent_disk_has_no_figures_to_update(cloud):
    assert ask(cloud, "provisionedIops", name="logs", provisionedIops=4000)[0] == 400


def test_a_disk_carries_what_it_has_from_then_on(cloud):
    (disk,) = (disk for disk in cloud.fleet.volumes if disk.name == "cache-data")
    window = Window.before(NOW + timedelta(hours=4), days=1)
    before = disk_truth(disk, window)
    ask(cloud, "provisionedIops", provisionedIops=3000)
    after = disk_truth(disk, window)
    rates = [(sums.read_ops + sums.write_ops) / 60 for sums in (before, after)]
    past = window.start_s + 60 * np.arange(len(rates[0])) < NOW.timestamp()
    assert len(rates[0][~past]) >= 3 * 60
    assert np.array_equal(rates[0][past], rates[1][past])
    assert rates[0][~past].min() > 4500
    assert np.allclose(rates[1][~past][1:], 3000, atol=1)


def test_the_clock_is_read_and_moved_by_its_own_path(cloud):
    with serve(cloud) as (port, _):
        clock = RunningClock(f"http://127.0.0.1:{port}")
        before = clock.now()
        clock.pause(3600)
        assert timedelta(hours=1) <= clock.now() - before < timedelta(hours=1, minutes=1)
        clients = Clients(url=f"http://127.0.0.1:{port}", monitoring="127.0.0.1:1", attempts=1)
        listed = clients.disks.aggregated_list(project=HERE.account)
        assert sum(len(scoped.disks) for _, scoped in listed) == 2
        clients.close()
