"""Runs the simulated organization alone: `python -m cloud_simulator`. It ends when its standard input does."""

import argparse
import contextlib
import json
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

from cloud_simulator.cloudwatch import CloudWatch
from cloud_simulator.devices import Devices
from cloud_simulator.faults import Effect, Fault, Faults
from cloud_simulator.organization import LEAST_VOLUMES, Mix, fleet_of
from cloud_simulator.quotas import Quotas
from cloud_simulator.scratch import PACE_S
from cloud_simulator.server import Front, serve


def main() -> None:
    """Serves until standard input ends or Ctrl-C; the first line of output says where, as JSON."""
    with contextlib.suppress(KeyboardInterrupt):
        _serve(_parser().parse_args())


def _serve(given: argparse.Namespace) -> None:
    simulated = fleet_of(given.volumes, given.now, seed=given.seed, mix=given.mix)
    faults = Faults([_fault(fault) for fault in given.faults], seed=given.seed)
    quotas = Quotas(
        calls_per_s=given.calls_per_s,
        datapoints_per_s=given.datapoints_per_s,
        statistics_per_s=given.statistics_per_s,
    )
    front = Front(
        simulated,
        CloudWatch(simulated, faults, quotas=quotas),
        faults=faults,
        latency_s=given.latency_ms / 1000,
        clock_offset=timedelta(seconds=given.clock_offset_s),
        devices=Devices(plain=given.plain_files),
        pace_s=given.pace_s,
    )
    server = serve(front, given.port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(json.dumps({"port": server.server_port, "volumes": len(simulated.volumes)}) + "\n")
    sys.stdout.flush()
    try:
        sys.stdin.read()
    finally:
        front.close()


def _fault(written: dict[str, Any]) -> Fault:
    effect = written.get("effect")
    return Fault(**{**written, "effect": effect and Effect(effect)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cloud_simulator")
    parser.add_argument("--volumes", type=int, default=LEAST_VOLUMES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--now", type=datetime.fromisoformat, default=datetime.now(UTC))
    parser.add_argument(
        "--mix", type=Mix, choices=list(Mix), default=Mix.ORGANIZATION, help="what the fleet is made of"
    )
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--clock-offset-s", type=float, default=0.0)
    parser.add_argument("--calls-per-s", type=float, help="the quota of GetMetricData calls; without it there is none")
    parser.add_argument("--datapoints-per-s", type=float, help="the quota of GetMetricData datapoints")
    parser.add_argument("--statistics-per-s", type=float, help="the quota of GetMetricStatistics calls")
    parser.add_argument("--pace-s", type=float, default=PACE_S, help="how long a volume's passing states last")
    parser.add_argument("--plain-files", action="store_true", help="volumes are files, whatever the kernel can")
    parser.add_argument("--faults", type=json.loads, default=[], help="a JSON list of faults")
    return parser


if __name__ == "__main__":
    main()
