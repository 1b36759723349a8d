"""What there is to audit: volumes in two accounts and two regions, with two days of metrics."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from tests.e2e.emulator import REGION, Emulator

ELSEWHERE: Final = "us-east-1"
DAYS: Final = 2

XEN: Final = "m4.2xlarge"
NITRO: Final = "m5.2xlarge"
OF_NITRO: Final = (
    "VolumeAvgIOPS",
    "VolumeAvgThroughput",
    "VolumeIOPSExceededCheck",
    "VolumeThroughputExceededCheck",
)
"""What CloudWatch publishes under volume and instance, on Nitro hosts alone."""

Rate = Callable[[int], float]
"""Operations a second in a minute of the two days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A volume to make: where, what it is, and how hard it works; `rate` None: nothing was ever measured of it."""

    name: str
    of: Literal["home", "member"] = "home"
    region: str = REGION
    spec: dict[str, Any]
    rate: Rate | None
    io_bytes: int = 16384
    attached: bool = True
    host: str = XEN


def quiet(minute: int) -> float:
    return 40 + 30 * math.sin(minute / 200)


def idle(minute: int) -> float:
    return 0.5


def busy(minute: int) -> float:
    return 1800 + 900 * math.sin(minute / 300)


def at_its_limit(minute: int) -> float:
    return 300.0


ESTATE: Final = (
    Made(name="old and quiet", spec={"VolumeType": "gp2", "Size": 500}, rate=quiet),
    Made(name="old and busy", spec={"VolumeType": "gp2", "Size": 1500}, rate=busy),
    Made(name="at its limit", spec={"VolumeType": "gp2", "Size": 100}, rate=at_its_limit),
    Made(
        name="over-provisioned",
        spec={"VolumeType": "gp3", "Size": 200, "Iops": 9000, "Throughput": 500},
        rate=quiet,
        host=NITRO,
    ),
    Made(name="dear", spec={"VolumeType": "io1", "Size": 400, "Iops": 8000}, rate=busy),
    Made(name="forgotten", spec={"VolumeType": "gp2", "Size": 250}, rate=None, attached=False),
    Made(name="never measured", spec={"VolumeType": "gp3", "Size": 50}, rate=None),
    Made(name="over there", region=ELSEWHERE, spec={"VolumeType": "gp2", "Size": 800}, rate=quiet),
    Made(name="the member's", of="member", spec={"VolumeType": "gp2", "Size": 300}, rate=quiet),
    Made(name="the member's own", of="member", spec={"VolumeType": "io1", "Size": 100, "Iops": 3000}, rate=quiet),
)


def make(estate: tuple[Made, ...], emulator: Emulator, accounts: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Makes the volumes and their metrics until `now`, and gives their ids by name."""
    return {one.name: _make(one, emulator, accounts[one.of], now.replace(second=0, microsecond=0)) for one in estate}


def _make(one: Made, emulator: Emulator, account: str, now: datetime) -> str:
    ec2 = emulator.client("ec2", account=account, region=one.region)
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": one.name}]}]
    volume = str(ec2.create_volume(AvailabilityZone=f"{one.region}a", TagSpecifications=tags, **one.spec)["VolumeId"])
    host, rates = "", {volume: one.rate}
    if one.attached:
        instance = ec2.run_instances(ImageId="ami-12345678", InstanceType=one.host, MinCount=1, MaxCount=1)[
            "Instances"
        ][0]
        host = instance["InstanceId"]
        roots = ec2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [host]}])["Volumes"]
        rates |= {root["VolumeId"]: idle for root in roots}
        ec2.attach_volume(VolumeId=volume, InstanceId=host, Device="/dev/sdf")
    cloudwatch = emulator.client("cloudwatch", account=account, region=one.region)
    for volume_id, rate in rates.items():
        points = list(_points(volume_id, host, rate, one, now)) if rate is not None else []
        for first in range(0, len(points), 1000):
            cloudwatch.put_metric_data(Namespace="AWS/EBS", MetricData=points[first : first + 1000])
    return volume


def _points(volume: str, host: str, rate: Rate, one: Made, now: datetime) -> Iterator[dict[str, Any]]:
    """Every series that CloudWatch publishes of such a volume, minute by minute."""
    for minute in range(1, DAYS * 1440 + 1):
        for metric, value in _minute(rate(minute), one).items():
            by_host = [{"Name": "InstanceId", "Value": host}] if metric in OF_NITRO else []
            yield {
                "MetricName": metric,
                "Dimensions": [{"Name": "VolumeId", "Value": volume}, *by_host],
                "Timestamp": now - timedelta(minutes=minute),
                "Value": value,
                "StorageResolution": 60,
            }


def _minute(rate: float, one: Made) -> dict[str, float]:
    """What a minute of a volume has in each series."""
    operations = round(rate * 60)
    reads, saturated = operations // 3, one.rate is at_its_limit and rate > 1
    sums: dict[str, float] = {"VolumeReadOps": reads, "VolumeWriteOps": operations - reads}
    sums |= {"VolumeReadBytes": reads * one.io_bytes, "VolumeWriteBytes": (operations - reads) * one.io_bytes}
    sums |= {"VolumeIdleTime": 0 if saturated else 50}
    if one.spec["VolumeType"] == "gp2":
        sums |= {"BurstBalance": 0 if saturated else 100}
    if one.host == NITRO:
        rates = (operations / 60, operations * one.io_bytes / 1024 / 60, 0, 0)
        sums |= dict(zip(OF_NITRO, rates, strict=True))
    return sums
