"""The world of a run: AWS on loopback, in a process of its own beside each function, with the bodies of the real APIs.

`python -m benchmarks.scale.world` reads what it is to be as JSON from its standard input and prints its port. What it
was asked is answered at `/tally`, by function: calls by operation, metrics, datapoints, and its own seconds.
"""

import json
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from benchmarks.scale.fleet import Organization, Patterns
from benchmarks.scale.objects import Objects
from benchmarks.scale.tables import Tables
from cloud_simulator.aws import ec2, price_list
from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.aws.protocols import Call, call_of, refusal, reply
from cloud_simulator.faults import Refused
from cloud_simulator.paging import place_of

_CALLER: Final = re.compile(r"\bapp/(\w+)")
_ACCOUNTS_A_PAGE: Final = 20
"""Accounts that Organizations answers at once (AWS Organizations API Reference, ListAccounts, MaxResults)."""

_FOR_EVER: Final = "2099-01-01T00:00:00Z"


@dataclass(slots=True)
class Tally:
    """What one function asked."""

    calls: Counter[str] = field(default_factory=Counter)
    metrics: int = 0
    datapoints: int = 0
    world_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class World:
    """The WSGI application."""

    organization: Organization
    objects: Objects
    tables: Tables
    config: str
    tallies: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    _same: dict[tuple[str, str, bytes], tuple[bytes, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answers a request, and counts it."""
        request = Request(environ)
        if request.path == "/tally":
            return Response(json.dumps({name: _plain(one) for name, one in self.tallies.items()}))(
                environ, start_response
            )
        began_s = time.thread_time()
        call = call_of(request)
        if call is None:
            raise NotImplementedError(f"{request.url} is not signed.")
        caller = _CALLER.search(request.headers.get("User-Agent", ""))
        tally = self.tallies[caller.group(1) if caller else "run"]
        try:
            response = self._answer(call, request, tally)
        except Refused as refused:
            response = refusal(call, refused)
        with self._lock:
            tally.calls[f"{call.service}:{_operation(call, request)}"] += 1
            tally.world_s += time.thread_time() - began_s
        return response(environ, start_response)

    def _answer(self, call: Call, request: Request, tally: Tally) -> Response:
        match call.service:
            case "s3":
                return self.objects.answer(request, call.body)
            case "dynamodb":
                return reply(call, self.tables.answer(call.operation, call.read()))
            case "sts":
                return Response(self._identity(call), content_type="text/xml")
            case _:
                return self._of_account(call, request, tally)

    def _of_account(self, call: Call, request: Request, tally: Tally) -> Response:
        account = self._account(call)
        if call.operation == "GetMetricData":
            return self._metrics(call, account, tally)
        if call.service == "ec2":
            written = ec2.answer_ec2(call.operation, call.form, self.organization.place(account, call.region).here)
            return self._as_moto(call, request) if written is None else Response(written, content_type="text/xml")
        plain = _PLAIN.get(f"{call.service}:{call.operation}")
        return self._as_moto(call, request) if plain is None else reply(call, plain(self, call))

    def _metrics(self, call: Call, account: str, tally: Tally) -> Response:
        asked = call.read()
        answer = self.organization.place(account, call.region).cloudwatch.get_metric_data(asked, account, call.region)
        with self._lock:
            tally.metrics += len(asked["MetricDataQueries"])
            tally.datapoints += sum(len(one["Values"]) for one in answer["MetricDataResults"])
        return reply(call, answer)

    def _as_moto(self, call: Call, request: Request) -> Response:
        """What is the same for every account, such as what instance types are: moto is asked once."""
        key = (call.operation, call.region, _without_page(call.body))
        if key not in self._same:
            environ = {**request.environ, "wsgi.input": BytesIO(call.body), "HTTP_X_MOTO_ACCOUNT_ID": "123456789012"}
            answered = Client(self._moto).run_wsgi_app(environ)
            self._same[key] = b"".join(answered[0]), answered[2].get("Content-Type", "")
            if not answered[1].startswith("200"):
                raise NotImplementedError(f"{call.service}:{call.operation}: {answered[1]} {self._same.pop(key)[0]!r}")
        body, kind = self._same[key]
        return Response(body, content_type=kind)

    def _account(self, call: Call) -> str:
        return self.organization.accounts[0] if call.access_key == HOME_KEY else call.access_key.removeprefix("ASIA")

    def _identity(self, call: Call) -> str:
        if call.operation == "GetCallerIdentity":
            account = self._account(call)
            caller = f"<Arn>arn:aws:sts::{account}:assumed-role/any/plimsoll</Arn><UserId>AROA</UserId>"
            told = f"{caller}<Account>{account}</Account>"
        else:
            arn = call.form["RoleArn"]
            key = f"<AccessKeyId>ASIA{arn.split(':')[4]}</AccessKeyId><SecretAccessKey>simulated</SecretAccessKey>"
            token = f"<SessionToken>simulated</SessionToken><Expiration>{_FOR_EVER}</Expiration>"
            user = f"<AssumedRoleUser><Arn>{arn}</Arn><AssumedRoleId>AROA:plimsoll</AssumedRoleId></AssumedRoleUser>"
            told = f"<Credentials>{key}{token}</Credentials>{user}"
        name, namespace = call.operation, 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
        return f"<{name}Response {namespace}><{name}Result>{told}</{name}Result></{name}Response>"


def _listed_accounts(world: World, call: Call) -> Mapping[str, Any]:
    first = place_of(call.read().get("NextToken"), "InvalidInputException")
    shown = world.organization.accounts[first : first + _ACCOUNTS_A_PAGE]
    page = {"Accounts": [{"Id": one, "Name": one, "State": "ACTIVE"} for one in shown]}
    more = first + len(shown) < len(world.organization.accounts)
    return {**page, **({"NextToken": str(first + len(shown))} if more else {})}


def _sent(_world: World, call: Call) -> Mapping[str, Any]:
    return {
        "FailedEntryCount": 0,
        "Entries": [{"EventId": str(number)} for number, _ in enumerate(call.read()["Entries"])],
    }


def _not_enrolled(_world: World, _call: Call) -> Mapping[str, Any]:
    return {"status": "Inactive"}


def _parameter(world: World, call: Call) -> Mapping[str, Any]:
    return {"Parameter": {"Name": call.read()["Name"], "Type": "String", "Value": world.config, "Version": 1}}


_PLAIN: Final[Mapping[str, Callable[[World, Call], Mapping[str, Any]]]] = {
    "organizations:ListAccounts": _listed_accounts,
    "ssm:GetParameter": _parameter,
    "events:PutEvents": _sent,
    "states:ListExecutions": lambda _world, _call: {"executions": []},
    "pricing:GetProducts": lambda _world, call: price_list.get_products(call.read()),
    "aco-automation:GetEnrollmentConfiguration": _not_enrolled,
}


def _operation(call: Call, request: Request) -> str:
    """The operation's name; S3 has none in its requests but their method."""
    if call.service != "s3":
        return call.operation
    return "List" if request.method == "GET" and "list-type" in request.args else str(request.method).capitalize()


def _without_page(body: bytes) -> bytes:
    return re.sub(rb"(ClientToken|ClientRequestToken)=[^&]*", b"", body)


def _plain(tally: Tally) -> Mapping[str, Any]:
    return {
        "calls": dict(tally.calls),
        "metrics": tally.metrics,
        "datapoints": tally.datapoints,
        "world_s": tally.world_s,
    }


class _Quiet(WSGIRequestHandler):
    """Speaks HTTP/1.1, and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's name
        """Nothing."""


def main() -> None:
    """Serves until standard input ends."""
    told = json.loads(sys.stdin.readline())
    now, folder = datetime.fromisoformat(told["now"]), Path(told["folder"])
    organization = Organization(now=now, accounts=told["accounts"], patterns=Patterns.as_of(now), clock=time.time)
    world = World(organization=organization, objects=Objects(folder), tables=Tables(folder), config=told["config"])
    server = make_server("127.0.0.1", 0, world, threaded=True, request_handler=_Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
