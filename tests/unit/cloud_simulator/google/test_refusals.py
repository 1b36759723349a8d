"""What goes wrong in the simulated projects reaches Google's clients as the exceptions of the real ones."""

import pytest
from google.api_core import exceptions

from cloud_simulator.faults import Fault
from cloud_simulator.google.projects import PROJECTS

from .served import SHOP, asking, served

OTHER = PROJECTS[1]
REST = [
    ("PERMISSION_DENIED", exceptions.Forbidden, "forbidden", "IAM_PERMISSION_DENIED"),
    ("SERVICE_DISABLED", exceptions.Forbidden, "accessNotConfigured", "SERVICE_DISABLED"),
    ("RESOURCE_EXHAUSTED", exceptions.TooManyRequests, "rateLimitExceeded", "RATE_LIMIT_EXCEEDED"),
    ("UNAVAILABLE", exceptions.ServiceUnavailable, "backendError", None),
    ("INTERNAL", exceptions.InternalServerError, "backendError", None),
]
GRPC = [
    ("PERMISSION_DENIED", exceptions.PermissionDenied, "IAM_PERMISSION_DENIED"),
    ("SERVICE_DISABLED", exceptions.PermissionDenied, "SERVICE_DISABLED"),
    ("RESOURCE_EXHAUSTED", exceptions.ResourceExhausted, "RATE_LIMIT_EXCEEDED"),
    ("UNAVAILABLE", exceptions.ServiceUnavailable, None),
    ("UNAUTHENTICATED", exceptions.Unauthenticated, None),
    ("DEADLINE_EXCEEDED", exceptions.DeadlineExceeded, None),
]


@pytest.mark.parametrize(("code", "error", "reason", "detail"), REST)
def test_a_refused_call_over_http_is_the_clients_exception_once_and_there_alone(fleet, code, error, reason, detail):
    with served(fleet, Fault(code=code, operation="disks.aggregatedList", account=SHOP, times=1)) as clients:
        clients.disks.aggregated_list(project=OTHER, retry=None)
        clients.instances.aggregated_list(project=SHOP, retry=None)
        with pytest.raises(error) as raised:
            clients.disks.aggregated_list(project=SHOP, retry=None)
        clients.disks.aggregated_list(project=SHOP, retry=None)
    assert raised.value.errors[0]["reason"] == reason
    assert raised.value.reason == detail
    if code == "SERVICE_DISABLED":
        assert "Compute Engine API has not been used in project plimsoll-sim-shop" in raised.value.message
        assert raised.value.metadata == {"service": "compute.googleapis.com", "consumer": f"projects/{SHOP}"}


@pytest.mark.parametrize(("code", "error", "detail"), GRPC)
def test_a_refused_call_over_grpc_is_the_clients_exception_once_and_there_alone(fleet, code, error, detail):
    def listed(clients, project):
        return list(clients.metrics.list_time_series(request=asking("read_ops_count", project=project), retry=None))

    with served(fleet, Fault(code=code, operation="ListTimeSeries", account=SHOP, times=1)) as clients:
        assert listed(clients, OTHER)
        with pytest.raises(error) as raised:
            listed(clients, SHOP)
        assert listed(clients, SHOP)
    assert raised.value.reason == detail
    if code == "SERVICE_DISABLED":
        assert raised.value.metadata["service"] == "monitoring.googleapis.com"


def test_a_fault_may_be_of_one_series_alone(fleet):
    with served(fleet, Fault(code="UNAVAILABLE", operation="ListTimeSeries/peak_read_ops")) as clients:
        list(clients.metrics.list_time_series(request=asking("read_ops_count", hours=1), retry=None))
        with pytest.raises(exceptions.ServiceUnavailable):
            clients.metrics.list_time_series(request=asking("max_read_ops_count", hours=1, aligner=11), retry=None)


def test_a_zone_that_is_away_fails_a_listing(fleet):
    with (
        served(fleet, Fault(code="UNAVAILABLE", region="us-central1-b")) as clients,
        pytest.raises(exceptions.ServiceUnavailable),
    ):
        clients.disks.aggregated_list(project=SHOP, retry=None)


def test_no_other_project_can_be_read(clients):
    with pytest.raises(exceptions.PermissionDenied, match=r"monitoring\.timeSeries\.list"):
        clients.metrics.list_time_series(request=asking("read_ops_count", project="somebody-elses"))
