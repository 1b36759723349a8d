"""Two audits at once: the second waits for the first one's end, or stops, as configured."""

import time

import pytest

from cloud_simulator.faults import Fault
from plimsoll_service.config import ServiceConfig

from .audits import MACHINE, by_machine
from .deployment import deployed
from .fleets import a_small_organization

pytestmark = [pytest.mark.once, pytest.mark.release]

SLOW = [Fault(operation="DescribeVolumes", delay_ms=3000)]


@pytest.mark.parametrize("when_busy", ["wait", "stop"])
def test_the_second_of_two_audits_waits_or_stops(templates, tmp_path, when_busy):
    fleet = a_small_organization()
    config = ServiceConfig(
        accounts=fleet.accounts, regions=fleet.regions, policy={"lookback_days": 2}, when_busy=when_busy
    )
    with deployed(templates, fleet, tmp_path, faults=SLOW, config=config) as service:
        first = service.account.begin(MACHINE, "first")
        while not service.account.front.invoked.get("take_inventory"):
            time.sleep(0.05)
        second = service.account.end(service.account.begin(MACHINE, "second"))
        ended = service.account.end(first)

        assert ended.output["status"] == "complete"
        if when_busy == "stop":
            assert (second.status, second.error) == ("FAILED", "AnotherAuditIsRunning")
            assert second.cause.startswith("first is under way")
            assert not service.keys("reports/second/")
        else:
            assert second.output["status"] == "complete"
            assert by_machine(service, "second").run["now"] > by_machine(service, "first").run["now"]
            planned = [event["name"] for event in service.account.front.invoked["plan"]]
            assert planned.count("second") > 1
