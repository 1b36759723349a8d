"""Runs the simulated projects alone: `python -m cloud_simulator.google`. It ends when its standard input does."""

import argparse
import contextlib
import json
import sys
from datetime import UTC, datetime
from typing import Any

from cloud_simulator.faults import Effect, Fault
from cloud_simulator.google.bench_writes import benches
from cloud_simulator.google.projects import LEAST_VOLUMES, projects_of
from cloud_simulator.google.serving import Cloud, serve


def main() -> None:
    """Serves until standard input ends or Ctrl-C; the first line of output says where, as JSON."""
    with contextlib.suppress(KeyboardInterrupt):
        _serve(_parser().parse_args())


def _serve(given: argparse.Namespace) -> None:
    fleet = projects_of(given.now, volumes=given.volumes, seed=given.seed)
    faults = [_fault(fault) for fault in given.faults]
    cloud = Cloud.of(fleet, faults, latency_s=given.latency_ms / 1000, seed=given.seed)
    with benches(cloud.front, cloud.compute, plain=given.plain_files, pace_s=given.pace_s):
        served = serve(cloud, given.port, given.monitoring_port)
        told = {"port": served.http_port, "monitoring_port": served.monitoring_port, "volumes": len(fleet.volumes)}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        try:
            sys.stdin.read()
        finally:
            served.close()


def _fault(written: dict[str, Any]) -> Fault:
    effect = written.get("effect")
    return Fault(**{**written, "effect": effect and Effect(effect)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cloud_simulator.google")
    parser.add_argument("--volumes", type=int, default=LEAST_VOLUMES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0, help="of HTTP")
    parser.add_argument("--monitoring-port", type=int, default=0, help="of gRPC")
    parser.add_argument("--now", type=datetime.fromisoformat, default=datetime.now(UTC))
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--plain-files", action="store_true", help="no loop devices for scratch disks")
    parser.add_argument("--pace-s", type=float, default=0.3, help="how long an operation takes")
    parser.add_argument("--faults", type=json.loads, default=[], help="a JSON list of faults")
    return parser


if __name__ == "__main__":
    main()
