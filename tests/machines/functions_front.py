"""The Lambda service before the simulated organization: invocations are answered by environments, and what these ask
of AWS goes on to the simulator, counted by function; events that they send begin what the rules say."""

import io
import json
import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from werkzeug.wrappers import Request, Response

from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.aws.protocols import Call, call_of
from cloud_simulator.aws.server import Front

from .environments import Answer, Environment, Function, Invocation
from .rules import Rule, told
from .troubles import Trouble

_INVOKED: Final = re.compile(r"^/2015-03-31/functions/([^/]+)/invocations$")
_CALLER: Final = re.compile(r"\bapp/(\w+)-\d+")
_INTERPRETER: Final = "Credential=ak/"
"""How moto's interpreter signs what it asks (moto/stepfunctions/parser/asl/utils/boto_client.py)."""


@dataclass(slots=True)
class FunctionsFront:
    """The WSGI application.

    `functions` by the names that they are deployed under, and `variables` that the service itself sets for each.
    `calls` counts by (function, operation), `invoked` keeps every event by function, and `peaks_mib` the most memory
    that an environment of a function used. What nobody waits for runs beside: `settled` waits for it, and `lost` keeps
    the answers of those that failed, which Lambda would try again.
    """

    front: Front
    functions: Mapping[str, Function]
    logs: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    invoked: dict[str, list[Any]] = field(default_factory=dict)
    peaks_mib: dict[str, float] = field(default_factory=dict)
    rules: Sequence[Rule] = ()
    lost: list[tuple[str, Any]] = field(default_factory=list)
    _beside: list[threading.Thread] = field(default_factory=list)
    _environments: dict[str, Environment] = field(default_factory=dict)
    _idle: dict[str, list[Environment]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        invoked = _INVOKED.match(unquote(environ["PATH_INFO"]))
        if invoked:
            return self._invoke(invoked.group(1), Request(environ))(environ, start_response)
        signed = environ.get("HTTP_AUTHORIZATION", "")
        environ["HTTP_AUTHORIZATION"] = signed.replace(_INTERPRETER, f"Credential={HOME_KEY}/")
        caller = self._caller(environ)
        if caller is not None and not self._goes_on(caller, environ):
            return Response(status=500)(environ, start_response)
        events = list(self._told(environ))
        answer = self.front(environ, start_response)
        for bus, event in events:
            self.hear(bus, event)
        return answer

    def hear(self, bus: str, event: Mapping[str, Any]) -> None:
        """Begins the functions that an event of a bus is for."""
        for rule in self.rules:
            for name in rule.functions if rule.hears(bus, event) else ():
                self._begin(name, event)

    def settled(self, *, within_s: float = 300.0) -> None:
        """Waits until everything that nobody waits for has ended, and what that began."""
        while self._beside:
            thread = self._beside[0]
            thread.join(within_s)
            assert not thread.is_alive(), f"{thread.name} has not ended within {within_s} s"
            self._beside.remove(thread)

    def close(self) -> None:
        """Ends every environment."""
        self.settled()
        for environment in self._environments.values():
            environment.close()

    def _caller(self, environ: Mapping[str, Any]) -> Environment | None:
        found = _CALLER.search(environ.get("HTTP_USER_AGENT", ""))
        return self._environments.get(found.group().removeprefix("app/")) if found else None

    def _goes_on(self, caller: Environment, environ: dict[str, Any]) -> bool:
        """Counts what an environment asks; False where it is killed before it is answered."""
        request = Request(environ, populate_request=False)
        call = call_of(request)
        if call is None:
            return True
        environ["wsgi.input"] = io.BytesIO(call.body)
        operation = _operation(call, request)
        with self._lock:
            self.calls[caller.function.name, operation] += 1
            caller.calls[operation] += 1
            killed = any(trouble.kills(caller, operation) for trouble in self.troubles)
        if killed:
            caller.kill()
        return not killed

    def _told(self, environ: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events of a request that sends any, each with its bus."""
        if not self.rules or not environ.get("HTTP_X_AMZ_TARGET", "").endswith(".PutEvents"):
            return
        call = call_of(Request(environ, populate_request=False))
        if call is not None:
            environ["wsgi.input"] = io.BytesIO(call.body)
            yield from told(call.read()["Entries"], account=self.front.fleet.accounts[0], region=call.region)

    def _begin(self, name: str, event: Any) -> None:
        """Runs a function beside, as Lambda does for those who do not wait."""

        def run() -> None:
            function = self.functions[name]
            answer = self._run(Invocation(function=function, arn=name, request_id=str(uuid.uuid4()), event=event))
            if answer.failed:
                self.lost.append((function.name, answer.payload))

        with self._lock:
            self.invoked.setdefault(self.functions[name].name, []).append(event)
        thread = threading.Thread(target=run, name=name, daemon=True)
        self._beside.append(thread)
        thread.start()

    def _invoke(self, asked: str, request: Request) -> Response:
        function = self.functions[asked.rpartition(":")[2]]
        event = json.loads(request.get_data() or b"{}")
        if request.headers.get("X-Amz-Invocation-Type") == "Event":
            self._begin(asked.rpartition(":")[2], event)
            return Response(status=202)
        with self._lock:
            self.invoked.setdefault(function.name, []).append(event)
            refused = any(trouble.refuses(function.name, event) for trouble in self.troubles)
        if refused:
            headers = {"x-amzn-ErrorType": "ServiceException", "x-amzn-RequestId": str(uuid.uuid4())}
            return Response(json.dumps({"Message": "simulated", "Type": "Service"}), status=500, headers=headers)
        answer = self._run(Invocation(function=function, arn=asked, request_id=str(uuid.uuid4()), event=event))
        headers = {"X-Amz-Function-Error": "Unhandled"} if answer.failed else {}
        return Response(json.dumps(answer.payload), headers=headers, content_type="application/json")

    def _run(self, told: Invocation) -> Answer:
        environment = self._environment(told.function)
        answer = environment.invoke(told)
        with self._lock:
            name = told.function.name
            self.peaks_mib[name] = max(self.peaks_mib.get(name, 0.0), answer.peak_mib)
            if environment.warm:
                self._idle.setdefault(name, []).append(environment)
        return answer

    def _environment(self, function: Function) -> Environment:
        with self._lock:
            idle = self._idle.get(function.name)
            if idle:
                return idle.pop()
            name = f"{function.name}-{len(self._environments)}"
            made = Environment(name, function, self.variables, self.logs / f"{name}.log")
            self._environments[name] = made
            return made


def _operation(call: Call, request: Request) -> str:
    """The operation's name; S3 has none in its requests but their method."""
    if call.service != "s3":
        return call.operation
    is_list = request.method == "GET" and "list-type" in request.args
    return "ListObjectsV2" if is_list else f"{request.method.capitalize()}Object"
