"""What can be made to go wrong, and that it goes wrong there alone."""

from datetime import timedelta

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from cloud_simulator.faults import Fault, Faults, Refused

from .served import NOW, named, points, query, served

pytestmark = pytest.mark.once

OTHER = "222222222222"


def code_of(call):
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


def test_a_denied_operation_is_denied_in_its_account_alone(fleet):
    with served(
        fleet, Fault(code="UnauthorizedOperation", operation="DescribeVolumes", account=OTHER, status=403)
    ) as here:
        assert code_of(here.client("ec2", account=OTHER).describe_volumes) == "UnauthorizedOperation"
        assert code_of(here.client("ec2", account=OTHER).describe_instances) is None
        assert code_of(here.client("ec2").describe_volumes) is None


@pytest.mark.parametrize(
    ("service", "call", "asked"),
    [
        ("ec2", "describe_volumes", {}),
        ("cloudwatch", "get_metric_data", {"MetricDataQueries": [], "StartTime": NOW, "EndTime": NOW}),
        ("pricing", "get_products", {"ServiceCode": "AmazonEC2"}),
        ("sts", "get_caller_identity", {}),
    ],
)
def test_a_code_reaches_clients_of_every_protocol(fleet, service, call, asked):
    with served(fleet, Fault(code="AccessDenied", status=403)) as here:
        client = here.client(service)
        assert code_of(lambda: getattr(client, call)(**asked)) == "AccessDenied"


def test_a_fault_of_so_many_times_is_over_after_them_and_retries_pass_it(fleet):
    fault = Fault(code="ThrottlingException", operation="GetProducts", times=2)
    with served(fleet, fault) as here:
        patient = here.client("pricing", config=Config(retries={"mode": "standard", "total_max_attempts": 4}))
        assert patient.get_products(ServiceCode="AmazonEC2")["PriceList"]
        assert here.front.calls["GetProducts"] == 3


def test_chances_are_seeded():
    def struck(seed):
        faults = Faults([Fault(code="Throttling", probability=0.3)], seed=seed)
        found = []
        for _ in range(400):
            try:
                faults.meet("DescribeVolumes", "1", "r")
                found.append(False)
            except Refused:
                found.append(True)
        return found

    assert struck(1) == struck(1) != struck(2)
    assert 80 < sum(struck(1)) < 160


@pytest.mark.parametrize(("status", "count"), [("InternalError", 0), ("Forbidden", 0), ("PartialData", 30)])
def test_a_metric_comes_back_broken_and_then_whole_while_others_are_whole(fleet, status, count):
    volume = named(fleet, "index")
    asked = {
        "MetricDataQueries": [query(volume, "VolumeReadOps", "reads"), query(volume, "VolumeWriteOps", "writes")],
        "StartTime": NOW - timedelta(hours=1),
        "EndTime": NOW,
    }
    with served(fleet, Fault(code=status, metric="VolumeReadOps", times=1)) as here:
        client = here.client("cloudwatch")
        first, second = client.get_metric_data(**asked), client.get_metric_data(**asked)
    assert [one["StatusCode"] for one in first["MetricDataResults"]] == [status, "Complete"]
    assert [len(values) for _, values in points([first]).values()] == [count, 60]
    assert [len(values) for _, values in points([second]).values()] == [60, 60]


@pytest.mark.parametrize(("hours", "word"), [(1, "earlier"), (-1, "later")])
def test_a_skewed_clock_expires_signatures(fleet, hours, word):
    with served(fleet, clock_offset=timedelta(hours=hours)) as here, pytest.raises(ClientError, match=word) as refused:
        here.client("sts").get_caller_identity()
    assert refused.value.response["Error"]["Code"] == "SignatureDoesNotMatch"
