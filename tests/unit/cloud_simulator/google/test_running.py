"""The simulated projects run in a process of their own, and whoever asks is told where."""

from datetime import timedelta

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.google.http_front import Front, Route, loopback
from cloud_simulator.running import NotStarted, running_google
from plimsoll_google.clients import Clients

from .served import NOW, SHOP, asking


def test_running_projects_are_read_by_their_environment():
    fault = Fault(code="UNAVAILABLE", operation="ListTimeSeries", times=1)
    with running_google(NOW, volumes=1, faults=[fault]) as there:
        told = there.environment
        clients = Clients(url=told["PLIMSOLL_GOOGLE_URL"], monitoring=told["PLIMSOLL_GOOGLE_MONITORING"], attempts=3)
        found = sum(len(part.disks) for _, part in clients.disks.aggregated_list(project=there.projects[0]))
        assert found == len(there.fleet.disks(SHOP))
        request = asking("read_ops_count", end=NOW - timedelta(hours=1))
        assert list(clients.metrics.list_time_series(request=request, retry=clients.retry))
        clients.close()


def test_a_port_that_is_taken_is_said():
    with running_google(NOW, volumes=1) as there:
        taken = int(there.url.rpartition(":")[2])
        with pytest.raises(NotStarted, match=f"Is port {taken} free"), running_google(NOW, volumes=1, port=taken):
            pass


def test_a_server_answers_what_was_added_to_its_routes():
    front = Front()
    front.routes["POST", r"/compute/v1/projects/(?P<project>[^/]+)/echo"] = Route(
        "echo", lambda call: {"project": call.project, "body": call.body, "query": call.query}
    )
    status, answered = front.answer("POST", "/compute/v1/projects/p/echo?a=b%20c", b'{"x": 1}')
    assert (status, answered) == (200, {"project": "p", "body": {"x": 1}, "query": {"a": "b c"}})
    status, answered = front.answer("GET", "/compute/v1/projects/p/echo", b"")
    assert (status, answered["error"]["status"]) == (404, "NOT_FOUND")
    assert front.calls == {"echo": 1}
    with loopback(front.spoken) as port:
        assert port > 0
