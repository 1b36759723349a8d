"""Control: the simulator's own paths, by which tests and demos move the clock and say what goes wrong next.

GET  /_simulator/clock            {"now": "2026-11-27T09:00:00+00:00"}
POST /_simulator/clock            {"move_s": 3600}
POST /_simulator/faults           [{"operation": "ModifyVolume", "effect": "lost", "times": 1}]
GET  /_simulator/modifications    every modification since the organization began
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from werkzeug.wrappers import Request, Response

from cloud_simulator.aws.living import LivingFleet
from cloud_simulator.clock import CLOCK_PATH, EVENTS_PATH, FAULTS_PATH, MODIFICATIONS_PATH
from cloud_simulator.faults import Faults, Refused, fault_of
from cloud_simulator.metrics.events import event_of

PATHS: Final = "/_simulator/"


def answer_control(request: Request, fleet: LivingFleet, faults: Faults) -> Response:
    """The answer to a request on one of these paths, as JSON."""
    handler = _HANDLERS.get((request.method, request.path))
    if handler is None:
        return Response(f"no {request.method} {request.path}", status=404)
    try:
        asked = json.loads(request.get_data() or b"null")
        return Response(json.dumps(handler(asked, fleet, faults)), content_type="application/json")
    except (Refused, KeyError, TypeError, ValueError) as error:
        return Response(f"{type(error).__name__}: {error}", status=400)


def _tell_time(_asked: Any, fleet: LivingFleet, _faults: Faults) -> Any:
    return {"now": fleet.clock.now().isoformat()}


def _move_clock(asked: Any, fleet: LivingFleet, faults: Faults) -> Any:
    fleet.clock.pause(float(asked["move_s"]))
    return _tell_time(asked, fleet, faults)


def _add_faults(asked: Any, _fleet: LivingFleet, faults: Faults) -> Any:
    faults.add(*(fault_of(fields) for fields in asked))
    return {}


def _add_events(asked: Any, fleet: LivingFleet, _faults: Faults) -> Any:
    fleet.add(*(event_of(fields) for fields in asked))
    return {}


def _list_modifications(_asked: Any, fleet: LivingFleet, _faults: Faults) -> Any:
    fleet.settle()
    return [asdict(modification) for modification in fleet.modifications()]


_HANDLERS: Final[Mapping[tuple[str, str], Callable[[Any, LivingFleet, Faults], Any]]] = {
    ("GET", CLOCK_PATH): _tell_time,
    ("POST", CLOCK_PATH): _move_clock,
    ("POST", FAULTS_PATH): _add_faults,
    ("POST", EVENTS_PATH): _add_events,
    ("GET", MODIFICATIONS_PATH): _list_modifications,
}
