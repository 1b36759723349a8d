"""Runs the simulated organisation alone: `python -m plimsoll.simulator`. It ends when its standard input does."""

import argparse
import json
import sys
import threading
from datetime import UTC, datetime, timedelta

from plimsoll.simulator.cloudwatch import CloudWatch
from plimsoll.simulator.faults import Fault
from plimsoll.simulator.organisation import LEAST_VOLUMES, fleet_of, organisation
from plimsoll.simulator.server import Front, serve


def main() -> None:
    """Serves until standard input ends; the first line of output says where, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m plimsoll.simulator")
    parser.add_argument("--volumes", type=int, default=LEAST_VOLUMES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--now", type=datetime.fromisoformat, default=datetime.now(UTC))
    parser.add_argument("--everyday", action="store_true", help="only everyday gp2 volumes, in one account and region")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--clock-offset-s", type=float, default=0.0)
    parser.add_argument("--faults", type=json.loads, default=[], help="a JSON list of faults")
    parser.add_argument("--broken", type=json.loads, default={}, help='JSON: {"VolumeReadOps": ["InternalError", 3]}')
    given = parser.parse_args()
    made = fleet_of(given.volumes, given.now, seed=given.seed) if given.everyday else None
    fleet = made or organisation(given.now, volumes=given.volumes, seed=given.seed)
    broken = {metric: (status, times) for metric, (status, times) in given.broken.items()}
    front = Front(
        fleet,
        CloudWatch(fleet, broken),
        faults=[Fault(**fault) for fault in given.faults],
        latency_s=given.latency_ms / 1000,
        clock_offset=timedelta(seconds=given.clock_offset_s),
    )
    server = serve(front, given.port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(json.dumps({"port": server.server_port, "volumes": len(fleet.volumes)}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
