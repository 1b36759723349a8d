"""A laboratory: an account in memory with a bench in it, for tests of validations."""

from dataclasses import replace
from datetime import timedelta

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.local_store import FileClaims, FolderStore
from plimsoll.clouds.validation_book import ValidationBook
from plimsoll.envelopes.library import load_library
from plimsoll.jobs.kernel import BenchPatience
from plimsoll.model.units import MIB
from plimsoll.outcomes import Answered
from plimsoll.ports import BenchHost, Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll_measure.runs import Budget, Mode
from plimsoll_measure.validate import RunValidation, validate_volume
from plimsoll_measure.validation.context import Context
from plimsoll_measure.validation.job import Job, JobName
from tests.builders import NOW, a_host, a_policy, a_volume, some_sums
from tests.in_memory.answer import AsPublished
from tests.in_memory.bench import MemoryBench
from tests.in_memory.ports import MemoryClock, MemoryMetrics

from .test_audit import a_world
from .test_stripe_sets import answers

TYPES = volume_types("aws")
DAYS = 2
START_S = int((NOW - timedelta(days=DAYS)).timestamp())


def work(iops=1000.0, throughput_mib_s=16.0):
    minutes = DAYS * 1440
    return some_sums(
        start_s=START_S,
        read_ops=[iops * 60 * 0.5] * minutes,
        write_ops=[iops * 60 * 0.5] * minutes,
        read_bytes=[throughput_mib_s * 60 * MIB * 0.5] * minutes,
        write_bytes=[throughput_mib_s * 60 * MIB * 0.5] * minutes,
    )


class Lab:
    """An account in memory with a bench in it, whose volumes deliver what is published, or a share of it by type.

    `loads` are what the bench says of itself in its next measurements, with the share that it then delivers.
    """

    types = TYPES
    provider = "aws"

    def __init__(self, folder, *volumes, work_of=None, shares=None, faults=(), policy=None, budget=None, **bench):
        self.clock = MemoryClock(time=NOW)
        self.policy = policy or a_policy(lookback_days=DAYS)
        self.shares = shares or {}
        self.simulated = False
        self.loads = []
        self.tasks = []
        self.said = []
        self.agreed = []
        self.numbers = iter(range(1000))
        volumes = volumes or (a_volume("gp2", 500, id="vol-1"),)
        first = volumes[0]
        metrics = {volume.id: (work_of or {}).get(volume.id, work()) for volume in volumes}
        bench_host = replace(self.a_bench_host(), tags=(("plimsoll:bench", "true"),))
        hosts = {host.id: host for host in (bench_host, *(host for volume in volumes for host in volume.hosts))}
        self.bench = MemoryBench(
            given=[
                BenchHost(host=host, account=first.account, region=first.region, zone=first.zone)
                for host in hosts.values()
            ],
            measure=self.measure,
            clock=self.clock,
            fleet={volume.id: volume.spec for volume in volumes},
            faults=faults,
            **{"latency_us": {volume.id: 1000.0 for volume in volumes}, **bench},
        )
        self.folder = folder
        self.book = ValidationBook(folder=folder)
        self.claims = FileClaims(folder=folder / "claims")
        self.ports = self.a_world(volumes, MemoryMetrics(given=metrics))
        self.budget = budget or Budget()

    def a_bench_host(self):
        return a_host(id="i-bench")

    def a_world(self, volumes, metrics):
        return a_world(volumes, metrics=metrics)

    def measure(self, spec, task):
        self.tasks.append(task)
        share = self.shares.get(spec.type, 1.0) if spec else 1.0
        load = self.loads.pop(0) if self.loads and spec else None
        share = share if load is None else share * load.pop("delivered")
        return AsPublished(types=self.types, share=share, simulated=self.simulated, bench=load)(spec, task)

    def pause(self, seconds):
        self.clock.time += timedelta(seconds=seconds)

    def remeasured(self, ports):
        library = load_library([self.folder], self.types)
        return replace(
            ports, envelopes=tuple(library.envelopes.values()), failed_measurements=self.book.failed_measurements()
        )

    @property
    def context(self):
        patience = BenchPatience(
            now=self.clock.now, pause=self.pause, create_s=60, attach_s=60, detach_s=60, grace_s=60
        )
        return Context(
            bench=lambda _place: self.bench,
            ports=lambda _place, _now: self.remeasured(self.ports),
            types=self.types,
            verdicts=self.book,
            claims=self.claims,
            jobs=FolderStore(self.folder / "jobs"),
            policy=self.policy,
            patience=patience,
            runtime_s=180,
            ramp_s=10,
            say=self.said.append,
            agree=lambda planned, left: self.agreed.append((planned, left)),
        )

    def job(self, volume_id="vol-1", target=None, mode=Mode.CANARY):
        return Job(
            name=JobName(validation=f"v-{next(self.numbers)}", index=0),
            place=Target(account="", region="", provider=self.provider),
            volume_id=volume_id,
            mode=mode,
            now=NOW,
            budget=self.budget,
            asked=target,
        )

    def validate(self, *asked, **more):
        return list(validate_volume(self.job(*asked, **more), self.context))

    def validate_all(self, least=None):
        records = [
            record_of(one.recommendation, provider=FIRST_PROVIDER)
            for one in answers(self.ports, self.policy).values()
            if isinstance(one, Answered)
        ]
        return self.validate_records(records, least)

    def validate_records(self, records, least=None):
        name, place = f"v-{next(self.numbers)}", Target(account="", region="", provider=self.provider)
        run = RunValidation(name=name, place=place, now=NOW, budget=self.budget, least=least, context=self.context)
        return list(run.events(records))

    @property
    def leaked(self):
        return [volume for volume in self.bench.left if volume.state != "deleting"]


def the(kind, events):
    (found,) = [event for event in events if isinstance(event, kind)]
    return found
