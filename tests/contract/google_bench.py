"""Google Cloud for a bench, on loopback: the simulated projects in this process, with scratch disks and agents."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from cloud_simulator.faults import Fault, Faults
from cloud_simulator.google.compute_writes import BenchWrites, benches
from cloud_simulator.google.projects import projects_of
from cloud_simulator.google.serving import Cloud, serve
from plimsoll.clouds.registry import GOOGLE
from plimsoll.ports import Target
from plimsoll_google.bench import GoogleBench
from plimsoll_google.clients import Clients


@dataclass(frozen=True, kw_only=True)
class GoogleHere:
    """The projects, what is made in them, a bench over them, and a region of one."""

    cloud: Cloud
    writes: BenchWrites
    clients: Clients
    bench: GoogleBench
    home: Target
    environment: dict[str, str]


@contextmanager
def google_bench(*faults: Fault, plain: bool = True, attempts: int = 2) -> Iterator[GoogleHere]:
    """Projects in which these things go wrong."""
    cloud = Cloud(projects_of(datetime.now(UTC)), Faults(faults))
    with (
        benches(cloud.front, cloud.compute, plain=plain, pace_s=0.05) as writes,
        serve(cloud) as (port, monitoring_port),
    ):
        url = f"http://127.0.0.1:{port}"
        clients = Clients(url=url, attempts=attempts)
        try:
            yield GoogleHere(
                cloud=cloud,
                writes=writes,
                clients=clients,
                bench=GoogleBench(clients=clients, sleep=lambda seconds: time.sleep(min(seconds, 0.05))),
                home=Target(account=cloud.fleet.accounts[0], region=cloud.fleet.regions[0], provider=GOOGLE),
                environment={
                    "PLIMSOLL_GOOGLE_URL": url,
                    "PLIMSOLL_GOOGLE_MONITORING": f"127.0.0.1:{monitoring_port}",
                },
            )
        finally:
            clients.close()
