"""How the memory of an audit's plan grows with the accounts of an Organization: the real function, a process each.

`python benchmarks/speed/plan_memory.py 200 2000` prints the row; both Organizations are simulated on loopback.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
from measured_audit import ROOT, Row

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.running import Running

ACCOUNTS = (200, 2_000)
FLAT = 1.2
_MACHINE = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
_ROLE = "arn:aws:iam::000000000000:role/any"


def measure(accounts: Sequence[int] = ACCOUNTS) -> list[Row]:
    """The row of the peak memory with the most accounts against that with the fewest."""
    few, many = (_peak_mib(count) for count in (min(accounts), max(accounts)))
    return [
        Row(
            what=f"peak memory of the service's plan at {max(accounts):,} accounts against {min(accounts):,}",
            measured=f"{many:.0f} MiB : {few:.0f} MiB",
            ratio=many / few,
            target=FLAT,
            note="the real function over a simulated Organization",
        )
    ]


def _peak_mib(accounts: int) -> float:
    """The most memory of the plan's process over so many accounts."""
    with _deployed(accounts) as variables:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'lib'}", **variables}
        machine = f"{variables['AWS_REGION']}:000000000001:execution:of-{accounts}"
        command = [sys.executable, str(Path(__file__).with_name("plan_process.py")), machine]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if done.returncode:
        raise SystemExit(f"the plan of {accounts:,} accounts failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    if found["accounts"] != accounts:
        raise SystemExit(f"{found['accounts']:,} of {accounts:,} accounts were planned")
    return float(found["peak_mib"])


@contextmanager
def _deployed(count: int) -> Iterator[Mapping[str, str]]:
    """An Organization of so many accounts with what the plan's function uses, and the function's environment."""
    names = tuple(f"{number:012d}" for number in range(1, count + 1))
    fleet = Fleet(now=datetime.now(UTC), accounts=names, regions=("us-east-1",), volumes=())
    front = Front(fleet, CloudWatch(fleet))
    server = serve(front)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    there = Running(endpoint=f"http://127.0.0.1:{server.server_port}", fleet=fleet)
    try:
        name = f"of-{count}"
        _make(there, name)
        named = ("BUCKET", "CONFIG_PARAMETER", "HISTORY_TABLE", "COORDINATION_TABLE", "EVENT_BUS")
        yield {
            **there.environment,
            **{f"PLIMSOLL_{one}": name for one in named},
            "POWERTOOLS_TRACE_DISABLED": "true",
            "POWERTOOLS_METRICS_NAMESPACE": name,
            "POWERTOOLS_SERVICE_NAME": name,
        }
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        front.close()


def _make(there: Running, name: str) -> None:
    """The bucket, the configuration and the state machine."""

    def client(service: str) -> Any:
        keys = there.environment
        return boto3.client(  # type: ignore[call-overload]  # the service's name is not a literal
            service,
            region_name=keys["AWS_REGION"],
            endpoint_url=there.endpoint,
            aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
        )

    config = {"organization": True, "external_id": "the-external-id"}
    client("s3").create_bucket(Bucket=name)
    client("ssm").put_parameter(Name=name, Value=json.dumps(config), Type="String")
    client("stepfunctions").create_state_machine(name=name, definition=json.dumps(_MACHINE), roleArn=_ROLE)


if __name__ == "__main__":
    for row in measure([int(one) for one in sys.argv[1:]] or ACCOUNTS):
        sys.stdout.write(f"{row}\n")
