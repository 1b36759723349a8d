"""AWS for a bench, on loopback: moto, with what it lacks in front of it.

Client tokens, CopyVolumes, what Systems Manager knows of instances, cancelling, and commands that take a while; and
answers that a test puts in the place of an operation's own.
"""

import io
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug import wrappers
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import run_wsgi_app

from cloud_simulator.aws.protocols import Call, call_of, refusal, reply
from cloud_simulator.faults import Refused
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.ports import Target
from plimsoll_measure.aws.bench import AwsBench

ACCOUNT = "123456789012"
HOME = Target(account=ACCOUNT, region="us-east-1")
_NAMESPACE = re.compile(rb' xmlns="[^"]*"')
Answer = Callable[[Call], dict[str, Any] | None]
"""What an operation answers instead of moto, None to leave it to moto; raises Refused."""


@dataclass(slots=True)
class Front:
    """The WSGI application. `answers` are consulted first, `calls` names every operation that was asked."""

    answers: dict[str, Answer] = field(default_factory=dict)
    managed: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _made: dict[str, tuple[str, Any, bytes]] = field(default_factory=dict)
    _looks: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ, start_response):
        call = call_of(wrappers.Request(environ))
        if call is None:
            return self._moto(environ, start_response)
        with self._lock:
            self.calls.append(call)
        environ["wsgi.input"] = io.BytesIO(call.body)
        try:
            answer = self.answers.get(call.operation, self._own)(call)
        except Refused as refused:
            return refusal(call, refused)(environ, start_response)
        if answer is not None:
            return reply(call, answer)(environ, start_response)
        if "ClientToken" in call.form:
            return self._once(call, environ)(environ, start_response)
        return self._moto(environ, start_response)

    def refuse(self, operation: str, *refusals: Refused) -> None:
        """The next calls of an operation are refused, one after the other; None lets one through."""
        left = list(refusals)

        def answer(call: Call) -> dict[str, Any] | None:
            if left:
                raise left.pop(0)
            return self._own(call)

        self.answers[operation] = answer

    def _own(self, call: Call) -> dict[str, Any] | None:
        match call.operation:
            case "DescribeInstanceInformation":
                wanted = call.read()["Filters"][0]["Values"]
                return {"InstanceInformationList": [self.managed[one] for one in wanted if one in self.managed]}
            case "GetCommandInvocation":
                command = call.read()["CommandId"]
                self._looks[command] = self._looks.get(command, 0) + 1
                if self._looks[command] == 1:
                    raise Refused("InvocationDoesNotExist", "")
                if self._looks[command] == 2:
                    return {"Status": "InProgress", "StatusDetails": "InProgress", "StandardOutputContent": ""}
                return None
            case "CancelCommand":
                return {}
        return None

    def _once(self, call: Call, environ: dict[str, Any]) -> wrappers.Response:
        """A volume for each client token; a copy is made as an empty one in its source's zone."""
        form = dict(call.form)
        token = form.pop("ClientToken")
        if call.operation == "CopyVolumes":
            source = form.pop("SourceVolumeId")
            (found,) = (
                boto3.Session().client("ec2", region_name=HOME.region).describe_volumes(VolumeIds=[source])["Volumes"]
            )
            form |= {"Action": "CreateVolume", "AvailabilityZone": found["AvailabilityZone"]}
        body = urlencode(form).encode()
        if token not in self._made:
            passed = {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
            parts, status, headers = run_wsgi_app(self._moto, passed, buffered=True)
            self._made[token] = (status, headers, b"".join(parts))
        status, headers, made = self._made[token]
        if call.operation == "CopyVolumes":
            copied = ET.Element("CopyVolumesResponse")
            ET.SubElement(ET.SubElement(copied, "volumeSet"), "item").extend(ET.fromstring(_NAMESPACE.sub(b"", made)))
            made = ET.tostring(copied)
        return wrappers.Response(made, status=status, content_type="text/xml")


@dataclass(frozen=True, kw_only=True)
class Served:
    """The application, a bench over it, and two hosts in one zone of which one is managed."""

    front: Front
    bench: AwsBench
    host_id: str
    unmanaged_id: str
    zone: str


class _Quiet(WSGIRequestHandler):
    def log(self, *_args, **_others):
        """Nothing."""


@contextmanager
def served(*, results: str | None = None) -> Iterator[Served]:
    """A fresh account with a host tagged plimsoll:bench=true."""
    front = Front()
    server = make_server("127.0.0.1", 0, front, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    before = dict(os.environ)
    keys = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": HOME.region}
    os.environ.update({**keys, "AWS_ENDPOINT_URL": endpoint, "AWS_EC2_METADATA_DISABLED": "true"})
    try:
        urlopen(Request(f"{endpoint}/moto-api/reset", method="POST"), timeout=30).close()
        zone, host_id, unmanaged_id = _two_hosts()
        front.managed[host_id] = {"InstanceId": host_id, "PingStatus": "Online", "PlatformType": "Linux"}
        sessions = Sessions(attempts=1, connections=4)
        sessions.sign_in([Credential()])
        assert not sessions.failed
        front.calls.clear()
        yield Served(
            front=front,
            bench=AwsBench(sessions=sessions, results=results, sleep=lambda _s: None),
            host_id=host_id,
            unmanaged_id=unmanaged_id,
            zone=zone,
        )
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.shutdown()
        server.server_close()
        thread.join()


def _two_hosts() -> tuple[str, str, str]:
    """A zone, and two running instances there with the bench's tag."""
    ec2 = boto3.Session().client("ec2", region_name=HOME.region)
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "plimsoll:bench", "Value": "true"}]}]
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    request = {"ImageId": image, "InstanceType": "m5.large", "TagSpecifications": tags}
    one, other = ec2.run_instances(MinCount=2, MaxCount=2, **request)["Instances"]
    return one["Placement"]["AvailabilityZone"], one["InstanceId"], other["InstanceId"]
