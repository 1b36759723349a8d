"""A fleet served inside the tests' own process, and real clients of it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import botocore.loaders
import botocore.session
from botocore.config import Config

from cloud_simulator.aws.cloudwatch import CloudWatch, Quotas
from cloud_simulator.aws.fleet import HOME_KEY, Fleet, SimulatedVolume
from cloud_simulator.aws.living import ModificationRules
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.clock import SimulatedClock
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.faults import Fault, Faults

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
HOME = "111111111111"
ONCE = Config(retries={"total_max_attempts": 1}, max_pool_connections=4)


@dataclass(frozen=True, kw_only=True)
class Served:
    fleet: Fleet
    front: Front
    endpoint: str

    def client(self, service: str, *, account: str = HOME, region: str = "us-east-1", config: Config = ONCE) -> Any:
        """A client as botocore makes it: CloudWatch's speaks JSON."""
        keys = {"aws_access_key_id": HOME_KEY, "aws_secret_access_key": "simulated"}
        made = boto3.Session().client(service, region_name=region, endpoint_url=self.endpoint, config=config, **keys)
        if account == HOME:
            return made
        sts = boto3.Session().client("sts", region_name=region, endpoint_url=self.endpoint, config=config, **keys)
        role = sts.assume_role(RoleArn=f"arn:aws:iam::{account}:role/plimsoll-audit", RoleSessionName="test")
        keys = {
            "aws_access_key_id": role["Credentials"]["AccessKeyId"],
            "aws_secret_access_key": role["Credentials"]["SecretAccessKey"],
            "aws_session_token": role["Credentials"]["SessionToken"],
        }
        return boto3.Session().client(service, region_name=region, endpoint_url=self.endpoint, config=config, **keys)

    def cbor_client(self) -> Any:
        """A CloudWatch client that speaks CBOR, as those of some other versions and languages do."""
        session = botocore.session.Session()
        loader = botocore.loaders.Loader()
        session.register_component("data_loader", loader)
        load = loader.load_service_model

        def load_cbor(name: str, kind: str, api_version: str | None = None) -> Any:
            model = load(name, kind, api_version)
            if name == "cloudwatch" and kind == "service-2":
                return {**model, "metadata": {**model["metadata"], "protocols": ["smithy-rpc-v2-cbor"]}}
            return model

        loader.load_service_model = load_cbor
        keys = {"aws_access_key_id": HOME_KEY, "aws_secret_access_key": "simulated"}
        return session.create_client("cloudwatch", "us-east-1", endpoint_url=self.endpoint, config=ONCE, **keys)


@contextmanager
def served(
    fleet: Fleet,
    *given: Fault,
    clock_offset: timedelta = timedelta(),
    quotas: Quotas | None = None,
    plain: bool = False,
    pace_s: float = 0.1,
    rules: ModificationRules | None = None,
) -> Iterator[Served]:
    """The fleet for as long as the block lasts. Its clock stands until it is moved."""
    faults, clock = Faults(given), SimulatedClock(fleet.now, passing=False)
    front = Front(
        fleet,
        CloudWatch(fleet, faults, clock.now_s, quotas=quotas or Quotas()),
        faults=faults,
        clock_offset=clock_offset,
        devices=Devices(plain=plain),
        pace_s=pace_s,
        clock=clock,
        rules=rules or ModificationRules(),
    )
    server = serve(front)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(fleet=fleet, front=front, endpoint=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        front.close()


def named(fleet: Fleet, name: str, *, account: str = HOME, region: str = "us-east-1") -> SimulatedVolume:
    """The volume with that Name tag in one place."""
    (found,) = [volume for volume in fleet.at(account, region) if dict(volume.tags)["Name"] == name]
    return found


def query(volume: SimulatedVolume, metric: str, name: str = "q0", **changes: Any) -> dict[str, Any]:
    """A MetricDataQuery for one metric of a volume."""
    instance = changes.pop("instance", None)
    dimensions = [{"Name": "VolumeId", "Value": volume.id}]
    if instance:
        dimensions.append({"Name": "InstanceId", "Value": instance})
    asked = {"Namespace": "AWS/EBS", "MetricName": metric, "Dimensions": dimensions}
    return {"Id": name, "MetricStat": {"Metric": asked, "Period": 60, "Stat": "Sum", **changes}}


def points(answers: list[dict[str, Any]]) -> dict[str, tuple[list[Any], list[float]]]:
    """The pages' timestamps and values, merged by Id."""
    merged: dict[str, tuple[list[Any], list[float]]] = {}
    for answer in answers:
        for result in answer["MetricDataResults"]:
            stamps, values = merged.setdefault(result["Id"], ([], []))
            stamps += result["Timestamps"]
            values += result["Values"]
    return merged
