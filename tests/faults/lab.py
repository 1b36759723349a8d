"""The lab: simulated clouds, the proxies before them, and runs of the command line through them under a plan."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS
from plimsoll.settings import Settings

from .calls import TOKENS, Asked, aws_call, google_call
from .commands import Commands, Ended
from .findings import Findings, findings_in
from .formats import decoded, format_of
from .grpc_proxy import grpc_proxied
from .injector import INSIDE, PAGING, Injected, Injector, candidates
from .law import BROKEN, IDENTICAL, KILLED, NAMED, Breach, breaches_of_process, judged
from .on_disk import ON_DISK, READERS, RESUME, RUN, WHOLE, damaged, disk_plan, file_and_reader, is_on_disk
from .plan import Pairs, Plan, plan_of
from .proxy import UNDISTURBED, Answering, Proxy, proxied
from .refusals import AWS_CODES, GOOGLE_CODES, SLOW, WIRE, Reply
from .tried import Tried

NOW: Final = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
"""When every audit is made: a seed means the same on every day."""
MOST_S: Final = 180.0
"""Seconds after which a command hangs, where it takes three undisturbed. What asks for ever is noticed by its calls."""
_MORE_CALLS: Final = 40
_CALLS_ANYWAY: Final = 3_000

_WAITS: Final = ("PLIMSOLL_CONNECT_TIMEOUT_S", "PLIMSOLL_SILENCE_TIMEOUT_S", "PLIMSOLL_ANSWER_TIMEOUT_S")
"""The settings that say how long a call may take: short only where a plan makes calls slow, since machines are busy."""

_DAYS: Final = ("--lookback-days", "1")
_REGIONS: Final = ("--region", AWS_REGIONS[0], "--region", AWS_REGIONS[1])
_ROLE: Final = f"arn:aws:iam::{ACCOUNTS[1]}:role/plimsoll-audit"
SCENARIOS: Final[Mapping[str, Sequence[str]]] = {
    "aws": (*_REGIONS, "--role-arn", _ROLE),
    "aws-organization": (*_REGIONS, "--organization"),
    "google": ("--cloud", "google", "--project", "plimsoll-sim-shop", "--project", "plimsoll-sim-data"),
    "google-folder": ("--cloud", "google", "--folder", "200000000001"),
}
"""The options of `plimsoll audit` that say what is read, by the name of the scenario."""
DEMO: Final[Mapping[str, Sequence[str]]] = {
    "aws": (*_REGIONS, *(f"--role-arn=arn:aws:iam::{account}:role/plimsoll-audit" for account in ACCOUNTS[1:])),
    "google": ("--cloud", "google", *(f"--project=plimsoll-sim-{name}" for name in ("shop", "data", "lab"))),
}
"""The same of the clouds that `plimsoll demo` audits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """A run of a scenario without faults: what it found, how many calls it made, and its questions by operation."""

    findings: Findings
    calls: int
    known: Mapping[str, Sequence[str]]


@dataclass(slots=True, kw_only=True)
class Lab:
    """What a session shares; `try_seed` is one run."""

    commands: Commands
    proxies: Mapping[str, Proxy]
    environment: Mapping[str, str]
    folder: Path
    scenarios: Mapping[str, Sequence[str]]
    undisturbed: dict[str, Undisturbed] = field(default_factory=dict)
    whole: dict[tuple[str, str], str] = field(default_factory=dict)
    _pairs: Pairs | None = None

    def audit(self, scenario: str, injector: Answering, folder: Path) -> Ended:
        """One audit of a scenario under an injector."""
        return self._run(("audit", "--out", str(folder), *_DAYS, *self.scenarios[scenario]), scenario, injector)

    def expected(self, scenario: str) -> Undisturbed:
        """The undisturbed run of a scenario."""
        if scenario not in self.undisturbed:
            folder, injector = self.folder / f"undisturbed-{scenario}", Injector(plan=UNDISTURBED)
            ended = self.audit(scenario, injector, folder)
            found = findings_in(folder)
            assert ended.code in {0, 3}, ended
            assert found.records, ended
            known = {name: sorted(set(keys)) for name, keys in injector.asked.items()}
            self.undisturbed[scenario] = Undisturbed(findings=found, calls=injector.calls, known=known)
        return self.undisturbed[scenario]

    @property
    def pairs(self) -> Pairs:
        """Every operation of every scenario, with each fault that it can have."""
        if self._pairs is None:
            self._pairs = {scenario: list(self._pairs_of(scenario)) for scenario in self.scenarios}
        return self._pairs

    def _pairs_of(self, scenario: str) -> Iterator[tuple[str, str]]:
        cloud = scenario.partition("-")[0]
        for operation, keys in self.expected(scenario).known.items():
            codes = AWS_CODES if cloud == "aws" else GOOGLE_CODES
            faults = [*codes, *WIRE, *(PAGING if operation in TOKENS else ())]
            kept = {key: reply for (_, key), reply in self.proxies[cloud].kept.items()}
            # By their keys: a seed means one plan in every process.
            good = [kept[key] for key in keys if key in kept][:6]
            answers = [decoded(kind, one.body) for one in good if (kind := _format(one)) is not None]
            faults += [fault for fault in INSIDE if not answers or any(candidates(one, fault) for one in answers)]
            yield from ((operation, fault) for fault in faults)

    def plan(self, seed: int) -> Plan:
        """The plan of a seed."""
        return disk_plan(seed, list(self.scenarios)) if is_on_disk(seed) else plan_of(seed, self.pairs)

    def try_plan(self, plan: Plan) -> Tried:
        """Runs a plan, killed and resumed where it says so, and judges what came of it."""
        if any(one.fault in ON_DISK for one in plan.strikes):
            return self._try_file(plan)
        began, expected = time.monotonic(), self.expected(plan.scenario)
        most_calls = _MORE_CALLS * expected.calls + _CALLS_ANYWAY
        injector = Injector(plan=plan, known=expected.known)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        out, breaches, kills = folder / "run", list[Breach](), 0
        try:
            for killed_at in (*plan.killed_at, None):
                self._set_kill(injector, killed_at, expected.calls, most_calls)
                calls_before = injector.calls
                ended = self._go(plan.scenario, injector, out)
                found = findings_in(out)
                calls = injector.calls - calls_before
                breaches += breaches_of_process(ended, calls=calls, most_calls=most_calls, found=found)
                if ended.code != KILLED or calls > most_calls:
                    break
                kills += 1
            endless = any(one.kind in {"endless", "traceback", "exit"} for one in breaches)
            outcomes, changed = judged(expected.findings, found, ended, injector.injected)
            breaches += changed if not endless else [one for one in changed if one.kind != "lost"]
        finally:
            shutil.rmtree(folder)
        return Tried(
            plan=plan,
            injected=tuple(injector.injected),
            outcomes=outcomes,
            breaches=tuple(breaches),
            kills=kills,
            calls=injector.calls,
            seconds=time.monotonic() - began,
        )

    def _try_file(self, plan: Plan) -> Tried:
        """Damages a file of an undisturbed run, and judges what the command says that reads it."""
        began, expected = time.monotonic(), self.expected(plan.scenario)
        file, reader = file_and_reader(plan)
        said = self._said_of_whole(plan.scenario, reader)
        with self._copied(plan.scenario) as run:
            before = (run / file).read_bytes()
            after = damaged(before, plan)
            (run / file).write_bytes(after)
            ended = self._read(plan.scenario, reader, run)
            found = findings_in(run)
        breaches = list(breaches_of_process(ended, calls=0, most_calls=1, found=replace(found, broken=())))
        outcome, outcomes = IDENTICAL, dict[str, str]()
        if ended.code == 2 and file in _joined(ended.stderr):
            outcome = NAMED
        elif reader == RESUME and ended.code != 2:
            outcomes, changed = judged(expected.findings, found, ended, ())
            breaches += [*changed, *(Breach(kind="disk", told=one) for one in found.broken)]
        elif after != before and ended.stdout.replace(str(run), RUN) != said:
            outcome = BROKEN
            breaches.append(Breach(kind="silent", told=f"exit {ended.code}: {(ended.stderr or ended.stdout)[-300:]}"))
        volumes = (*expected.findings.records, *expected.findings.unanswered)
        return Tried(
            plan=plan,
            injected=(Injected(plan.strikes[0].operation, plan.strikes[0].fault, ()),) if after != before else (),
            outcomes=outcomes or dict.fromkeys(volumes, outcome),
            breaches=tuple(breaches),
            kills=0,
            calls=0,
            seconds=time.monotonic() - began,
        )

    def _said_of_whole(self, scenario: str, reader: str) -> str:
        """What a command says of a run that nothing became of."""
        if (scenario, reader) not in self.whole:
            with self._copied(scenario) as run:
                ended = self._read(scenario, reader, run)
            assert ended.code in {0, 3}, ended
            self.whole[scenario, reader] = ended.stdout.replace(str(run), RUN)
        return self.whole[scenario, reader]

    @contextmanager
    def _copied(self, scenario: str) -> Iterator[Path]:
        """A copy of the folder of a scenario's undisturbed run."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            yield Path(shutil.copytree(self.folder / f"undisturbed-{scenario}", Path(folder, "run")))

    def _read(self, scenario: str, reader: str, run: Path) -> Ended:
        """A command that reads a run."""
        places = {RUN: str(run), WHOLE: str(self.folder / f"undisturbed-{scenario}")}
        words = [places.get(word, word) for word in READERS[reader]]
        return self._run(words, scenario, Injector(plan=UNDISTURBED))

    def _set_kill(self, injector: Injector, share: float | None, calls: int, most_calls: int) -> None:
        """Kills the command at that share of an undisturbed run's calls, or when it has made far too many."""
        last = injector.calls + most_calls + 50
        at = last if share is None else injector.calls + max(1, round(share * calls))
        injector.on_call = lambda count: self.commands.kill() if count in {at, last} else None

    def _go(self, scenario: str, injector: Injector, out: Path) -> Ended:
        if (out / "run.json").exists():
            return self._run(("audit", "--resume", str(out)), scenario, injector)
        return self.audit(scenario, injector, out)

    def _run(self, words: Sequence[str], scenario: str, injector: Answering) -> Ended:
        proxy = self.proxies[scenario.partition("-")[0]]
        proxy.injector = injector
        slow = isinstance(injector, Injector) and any(one.fault in SLOW for one in injector.plan.strikes)
        environment = {**self.environment, **dict.fromkeys(_WAITS, "0.8" if slow else "20")}
        return self.commands.run(words, self.folder, environment, within_s=MOST_S)


def _joined(text: str) -> str:
    """A text without the line ends of the terminal, which may stand within a name."""
    return "".join(line.strip() for line in text.splitlines())


def _format(reply: Reply) -> str | None:
    return format_of(reply.headers.get("Content-Type", ""))


FEW_ATTEMPTS: Final = 3
USUAL_ATTEMPTS: Final = int(Settings.model_fields["max_attempts"].default)
"""How often a call is tried: under faults that stay few times are enough; with the demo's clouds as users have it."""


@contextmanager
def opened(*, demo: bool = False) -> Iterator[Lab]:
    """A lab for as long as the block lasts: with the small clouds, or with those of the demo."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-faults-")))
        aws, google = (stack.enter_context(_simulated(cloud, demo=demo)) for cloud in ("aws", "google"))
        accounts = {HOME_KEY: ACCOUNTS[0]}
        proxies = {
            "aws": Proxy(
                upstream=aws["port"],
                read=lambda *request: aws_call(*request, accounts),
                fresh=frozenset({"AssumeRole"}),
                learn=lambda asked, reply: _learn(accounts, asked, reply),
            ),
            "google": Proxy(upstream=google["port"], read=google_call),
        }
        commands = stack.enter_context(Commands(NOW))
        ports = {name: stack.enter_context(proxied(proxy)) for name, proxy in proxies.items()}
        monitoring = stack.enter_context(grpc_proxied(proxies["google"], f"127.0.0.1:{google['monitoring_port']}"))
        yield Lab(
            commands=commands,
            proxies=proxies,
            environment=_environment(ports, monitoring, folder, attempts=USUAL_ATTEMPTS if demo else FEW_ATTEMPTS),
            folder=folder,
            scenarios=DEMO if demo else SCENARIOS,
        )


def _environment(ports: Mapping[str, int], monitoring: int, folder: Path, *, attempts: int) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_", "GOOGLE_"))}
    return {
        **kept,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['aws']}",
        "AWS_ACCESS_KEY_ID": HOME_KEY,
        "AWS_SECRET_ACCESS_KEY": "simulated",
        "AWS_REGION": AWS_REGIONS[0],
        "AWS_DEFAULT_REGION": AWS_REGIONS[0],
        "AWS_EC2_METADATA_DISABLED": "true",
        "PLIMSOLL_GOOGLE_URL": f"http://127.0.0.1:{ports['google']}",
        "PLIMSOLL_GOOGLE_MONITORING": f"127.0.0.1:{monitoring}",
        "PLIMSOLL_RUNS_DIR": str(folder / "runs"),
        "PLIMSOLL_MAX_ATTEMPTS": str(attempts),
        "PLIMSOLL_LIST_DEADLINE_S": "5",
        "PLIMSOLL_METRIC_CALLS_A_RUN": "2000",
        "PLIMSOLL_READ_DEADLINE_S": "8",
        "COLUMNS": "160",
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "ignore",
    }


@contextmanager
def _simulated(cloud: str, *, demo: bool) -> Iterator[dict[str, Any]]:
    """A simulated cloud in a process of its own, and where it is."""
    small, whole = ["tests.faults.simulated", cloud, NOW.isoformat()], ["cloud_simulator", f"--cloud={cloud}"]
    words = [*whole, f"--now={NOW.isoformat()}", "--plain-files"] if demo else small
    command = [sys.executable, "-m", *words]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line, f"the simulated {cloud} did not start; see above"
            yield json.loads(line)
        finally:
            process.stdin.close()


def _learn(accounts: dict[str, str], asked: Asked, reply: Reply) -> None:
    """Notes whose access key an assumed role has been given."""
    if asked.operation != "AssumeRole" or reply.status != 200:
        return
    root = ET.fromstring(reply.body)
    found = {element.tag.rpartition("}")[2]: element.text or "" for element in root.iter()}
    accounts[found["AccessKeyId"]] = found["Arn"].split(":")[4]
