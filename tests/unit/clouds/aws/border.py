"""A small account whose answers are written out as AWS sends them, so that any part of them can be made wrong.

They go through botocore's own parsers: only the network is replaced.
"""

import json
from collections.abc import Callable
from xml.etree import ElementTree as ET

import boto3
import cbor2
from botocore.awsrequest import AWSResponse

from plimsoll.clouds.aws.endpoints import read_strictly
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.ports import Target

HERE = Target(account="111122223333", region="eu-west-1")
THEN = "2026-01-02T03:04:05.000Z"


def element(name, given):
    """An element of text, of further elements by name, or of a list of items."""
    made = ET.Element(name)
    if isinstance(given, dict):
        made.extend(element(key, value) for key, value in given.items())
    elif isinstance(given, list):
        made.extend(element("item", value) for value in given)
    else:
        made.text = str(given)
    return made


def attachment(volume, host, device):
    return {"volumeId": volume, "instanceId": host, "device": device, "status": "attached", "attachTime": THEN}


def volume(name, kind, *attachments, **more):
    return {
        "volumeId": name,
        "size": "100",
        "availabilityZone": "eu-west-1a",
        "status": "in-use" if attachments else "available",
        "createTime": THEN,
        "volumeType": kind,
        "attachmentSet": list(attachments),
        "multiAttachEnabled": "false",
        "snapshotId": "snap-0123456789abcdef0",
        **more,
    }


def changed(name, kind, state, **more):
    return {
        "volumeId": name,
        "modificationState": state,
        "originalVolumeType": kind,
        "originalSize": "50",
        "startTime": THEN,
        "progress": "40",
        **more,
    }


def instance(name, kind, *devices):
    mapped = [{"deviceName": device, "ebs": {"volumeId": volume}} for volume, device in devices]
    return {
        "instancesSet": [
            {
                "instanceId": name,
                "instanceType": kind,
                "rootDeviceName": "/dev/xvda",
                "rootDeviceType": "ebs",
                "launchTime": THEN,
                "instanceState": {"code": "16", "name": "running"},
                "blockDeviceMapping": mapped,
            }
        ]
    }


_LIMITS = {
    "baselineIops": "3600",
    "baselineThroughputInMBps": "81.25",
    "maximumIops": "18750",
    "maximumThroughputInMBps": "593.75",
}

ANSWERS = {
    "DescribeVolumes": {
        "volumeSet": [
            volume(
                "vol-1",
                "gp3",
                attachment("vol-1", "i-1", "/dev/xvda"),
                iops="4000",
                throughput="250",
                tagSet=[{"key": "team", "value": "data"}],
            ),
            volume("vol-2", "gp2", attachment("vol-2", "i-1", "/dev/sdf"), iops="300"),
            volume(
                "vol-3",
                "io2",
                attachment("vol-3", "i-1", "/dev/sdg"),
                attachment("vol-3", "i-2", "/dev/sdg"),
                iops="5000",
                multiAttachEnabled="true",
            ),
            volume("vol-4", "standard", operator={"managed": "true", "principal": "eks.amazonaws.com"}),
            volume("vol-5", "st1", attachment("vol-5", "i-2", "/dev/sdh"), size="500"),
        ]
    },
    "DescribeVolumesModifications": {
        "volumeModificationSet": [
            changed("vol-1", "gp3", "completed", originalIops="3000", originalThroughput="125", endTime=THEN),
            changed("vol-2", "gp2", "optimizing", originalIops="150"),
            changed("vol-4", "standard", "completed", endTime=THEN),
        ]
    },
    "DescribeInstances": {
        "reservationSet": [
            instance("i-1", "m5.large", ("vol-1", "/dev/xvda"), ("vol-2", "/dev/sdf"), ("vol-3", "/dev/sdg")),
            instance("i-2", "t2.micro", ("vol-3", "/dev/sdg"), ("vol-5", "/dev/sdh")),
        ]
    },
    "DescribeInstanceTypes": {
        "instanceTypeSet": [
            {
                "instanceType": "m5.large",
                "bareMetal": "false",
                "hypervisor": "nitro",
                "ebsInfo": {"ebsOptimizedSupport": "default", "ebsOptimizedInfo": _LIMITS},
            },
            {
                "instanceType": "t2.micro",
                "bareMetal": "false",
                "hypervisor": "xen",
                "ebsInfo": {"ebsOptimizedSupport": "unsupported"},
            },
        ]
    },
    "DescribeRegions": {"regionInfo": [{"regionName": "eu-west-1"}, {"regionName": "us-east-1"}]},
    "GetCallerIdentity": {
        "GetCallerIdentityResult": {
            "Account": HERE.account,
            "UserId": "x",
            "Arn": f"arn:aws:iam::{HERE.account}:user/x",
        }
    },
}
READING = ("DescribeVolumesModifications", "DescribeVolumes", "DescribeInstances", "DescribeInstanceTypes")


def answer(operation):
    """The root of an answer in XML, as it is where nothing is wrong."""
    return element(f"{operation}Response", ANSWERS[operation])


def whole(operation):
    """The body of an answer where nothing is wrong."""
    if operation == "GetEnrollmentConfiguration":
        return cbor2.dumps({"status": "Inactive"})
    if operation == "GetProducts":
        return json.dumps({"PriceList": []}).encode()
    return ET.tostring(answer(operation))


class Body:
    """What is sent, as botocore takes it off the network."""

    def __init__(self, content):
        self.content = content

    def stream(self, **_options):
        yield self.content


class Account:
    """Sessions with one account. `spoil` is given an operation and its body and gives the body that is sent."""

    def __init__(self, attempts=2):
        session = boto3.Session("testing", "testing", region_name=HERE.region)
        session.events.register("before-send", self._send)
        self.spoil: Callable[[str, bytes], bytes] = lambda _operation, body: body
        self.sent: list[str] = []
        self.sessions = Sessions(attempts=attempts, connections=2)
        self.sessions.by_account[HERE.account] = strictly(session)

    def _send(self, request, event_name, **_more):
        operation = event_name.rsplit(".", 1)[-1]
        self.sent.append(operation)
        kind = "application/cbor" if operation == "GetEnrollmentConfiguration" else "text/xml"
        headers = {"content-type": kind, "smithy-protocol": "rpc-v2-cbor"}
        return AWSResponse(request.url, 200, headers, Body(self.spoil(operation, whole(operation))))


def strictly(session):
    """The session, whose answers are read as those of `Sessions` are."""
    read_strictly(session._session)
    return session
