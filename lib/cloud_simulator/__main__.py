"""Runs simulated clouds: `python -m cloud_simulator [--cloud aws|google|both]`. It ends when its standard input does.

Each cloud prints one line of JSON that says where it is served. What only one cloud needs is imported when wanted.
"""

import argparse
import contextlib
import json
import sys
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime

from cloud_simulator.faults import Faults, fault_of

CLOUDS = ("aws", "google")


def main() -> None:
    """Serves until standard input ends or Ctrl-C."""
    options = _parser().parse_args()
    with contextlib.suppress(KeyboardInterrupt), ExitStack() as stack:
        for cloud in CLOUDS if options.cloud == "both" else (options.cloud,):
            place = stack.enter_context(_serve(cloud, options))
            sys.stdout.write(json.dumps({"cloud": cloud, **place}) + "\n")
            sys.stdout.flush()
        sys.stdin.read()


def _serve(cloud: str, options: argparse.Namespace) -> AbstractContextManager[dict[str, int]]:
    """A cloud for as long as the block lasts, and where it is."""
    faults = Faults([fault_of(fault) for fault in options.faults], seed=options.seed)
    if cloud == "google":
        from cloud_simulator.google.serving import serve_projects  # noqa: PLC0415  # gRPC is slow to import

        return serve_projects(options, faults)
    from cloud_simulator.aws.server import serve_organization  # noqa: PLC0415  # moto is slow to import

    return serve_organization(options, faults)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cloud_simulator")
    parser.add_argument("--cloud", choices=[*CLOUDS, "both"], default=CLOUDS[0])
    parser.add_argument("--volumes", type=int, help="how many in each cloud, at least; default: one of everything")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0, help="of HTTP; default: a free one")
    parser.add_argument("--now", type=datetime.fromisoformat, default=datetime.now(UTC))
    parser.add_argument("--latency-ms", type=float, default=0.0, help="how long each answer waits")
    parser.add_argument("--pace-s", type=float, default=0.3, help="how long a state lasts on the way to another")
    parser.add_argument("--plain-files", action="store_true", help="volumes are files, whatever the kernel can do")
    parser.add_argument("--faults", type=json.loads, default=[], help="a JSON list of faults")
    aws = parser.add_argument_group("AWS alone")
    aws.add_argument(
        "--mix", default="organization", help="organization, striped, everyday, quiet, long-lives or states"
    )
    aws.add_argument("--clock-offset-s", type=float, default=0.0)
    aws.add_argument("--calls-per-s", type=float, help="quota of GetMetricData calls; default: none")
    aws.add_argument("--datapoints-per-s", type=float, help="quota of GetMetricData datapoints; default: none")
    aws.add_argument("--statistics-per-s", type=float, help="quota of GetMetricStatistics calls; default: none")
    aws.add_argument("--modifying-gib", type=int, help="quota of storage of a type under modification in a region")
    aws.add_argument("--unrest", type=int, help="a seed of uneven latencies and disturbed zones; default: none")
    aws.add_argument("--change-tag", help="KEY or KEY=VALUE that a volume needs to be modified; default: none")
    google = parser.add_argument_group("Google alone")
    google.add_argument("--monitoring-port", type=int, default=0, help="of gRPC; default: a free one")
    return parser


if __name__ == "__main__":
    main()
