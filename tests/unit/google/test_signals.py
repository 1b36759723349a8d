"""Signals of disks: latency, queue and health by the day, from the simulated Cloud Monitoring."""

import math

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.projects import DiskMaker
from plimsoll.clouds.common.calls import Pacer
from plimsoll.model.errors import CloudError
from plimsoll.model.volume import Volume
from plimsoll.ports import Target
from plimsoll.reading.known import Ask
from plimsoll.reading.signals import SignalLevel, look_at_signals, make_signals
from plimsoll.reading.window import Window
from plimsoll.settings import Settings
from plimsoll_google.catalog import query_cost
from plimsoll_google.inventory import AttachedPlaces, GoogleInventory
from plimsoll_google.metrics import GoogleMetrics
from tests.unit.cloud_simulator.google.served import NOW, SHOP, served

LOOK = look_at_signals(Window.before(NOW, days=14))
STEPS = (
    {"vm": "db", "type": "n2-standard-8"},
    {"disk": "data", "spec": ["pd-ssd", 500], "vm": "db", "does": "steady", "low": 300, "high": 600},
    {"disk": "left", "spec": ["pd-ssd", 500]},
)


def read(*faults):
    """The signals of each disk by its name, or why there are none, and what that took."""
    maker = DiskMaker(NOW, SHOP, "us-central1", 1)
    maker.lay_out(STEPS)
    fleet = GoogleFleet(now=NOW, accounts=(SHOP,), regions=("us-central1",), volumes=tuple(maker.disks))
    with served(fleet, *faults) as clients:
        target = Target(account=SHOP, region="us-central1", provider="google")
        inventory = GoogleInventory(clients=clients, projects=[SHOP], regions=None)
        volumes = [one for one in inventory.volumes(target) if isinstance(one, Volume)]
        metrics = GoogleMetrics(
            clients=clients,
            calls=Pacer(math.inf),
            parallel=1,
            query_cost=query_cost(Settings()),
            attached=AttachedPlaces(clients=clients),
        )
        found = metrics.read([Ask(volume=volume, look=LOOK) for volume in volumes])
    told = [one if isinstance(one, CloudError) else make_signals(one, LOOK.window) for one in found]
    return {volume.name: one for volume, one in zip(volumes, told, strict=True)}, metrics.usage


def test_latency_and_queue_are_in_our_units_and_health_is_silent_where_all_is_well():
    found, usage = read()
    data = found["data"]
    assert data.io_latency_ms == SignalLevel(mean=pytest.approx(0.8), highest=pytest.approx(0.8))
    assert 0.2 < data.queue_length.mean < data.queue_length.highest < 0.6
    assert (data.degraded_minutes, data.read_latency_ms) == (None, None)
    assert found["left"] is None
    assert usage.datapoints <= 5 * 14


def test_what_cannot_be_read_is_an_error_and_no_signal():
    found, _ = read(Fault(operation="ListTimeSeries/queue", code="PERMISSION_DENIED"))
    assert isinstance(found["data"], CloudError)
