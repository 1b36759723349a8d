"""Where the commands of the documents run: a folder with runs, an account, projects and a Slack, all simulated."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cloud_simulator.running import Running, RunningProjects
from tests.docs.written import ROOT, Written
from tests.pipelines.commands import command, environment, plimsoll

SHORT = ("--set", "lookback_days=2")
ANY_LATENCY = ("--set", "max_p99_latency_us=60000000", "--set", "latency_slack_pct=10000")
MORE: Mapping[str, tuple[str, ...]] = {
    "audit": SHORT,
    "audit --validate": (*SHORT, "--max-runs", "1"),
    "validate": ("--yes", "--max-runs", "1", *SHORT, *ANY_LATENCY),
    "validate --recommendation": ("--yes", "--max-runs", "1"),
    "benchmark": ("--runtime-s", "1", "--ramp-s", "0", "--file-mib", "64", "--yes"),
    "serve": ("--port", "0"),
}
"""What a command is given besides, so that it takes little: the longest name that it begins with counts."""

QUICK = {
    "PLIMSOLL_BENCHMARK_RUNTIME_S": "1",
    "PLIMSOLL_BENCHMARK_RAMP_S": "0",
    "PLIMSOLL_POLL_S": "0.1",
    "PLIMSOLL_SETTING_UP_S": "20",
}
IN_PART = ("--region", "eu-west-1")
"""What is audited where a page says no more: not the region in which a volume's type is unknown."""

TOKEN = "0123456789abcdef0123456789abcdef"
"""What the live page of others is opened with."""

RUNS = ("20261021T060000Z", "20261121T060000Z", "20261121T120000Z", "last-week")
"""The runs that the pages name."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """A folder to run commands in. `names` says what stands here for the names of the pages."""

    folder: Path
    organization: Running
    projects: RunningProjects | None = None
    names: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def furnish(self, run: Path) -> None:
        """Makes what the pages take for granted: a profile, runs, a policy, and Plimsoll's own source beside."""
        config = self.folder / "config"
        key = self.organization.environment["AWS_ACCESS_KEY_ID"]
        config.write_text(f"[profile production]\naws_access_key_id = {key}\naws_secret_access_key = simulated\n")
        self.variables |= {"AWS_CONFIG_FILE": str(config), **QUICK}
        (self.folder / "token").write_text(TOKEN, encoding="utf-8")
        for name in RUNS:
            (self.folder / "plimsoll-runs" / name).parent.mkdir(exist_ok=True)
            subprocess.run(["cp", "-r", str(run), str(self.folder / "plimsoll-runs" / name)], check=True)
        (self.folder / "benchmarks").symlink_to(ROOT / "benchmarks")
        (self.folder / "run.json").symlink_to(ROOT / "tests/corpus/files/fell-short.json")
        (self.folder / "bill.csv").symlink_to(ROOT / "tests/unit/bill/focus-1.0-sample.csv")
        self._write_configuration()
        (self.folder / "plan.json").symlink_to(ROOT / "tests/unit/api/plans/terraform.json")
        for name, rate in (("bw", 4800), ("iops", 300)):
            lines = (f"{second * 1000}, {rate}, 0, 16384\n" for second in range(1, 181))
            (self.folder / f"run_{name}.1.log").write_text("".join(lines), encoding="utf-8")

    def run(self, written: Written) -> tuple[int, str]:
        """Carries a command out as it is written; its exit code, and all that it printed."""
        words = [here for word in written.words[1:] for here in self._here(word)]
        asked = " ".join(words)
        begun = max((one for one in MORE if asked.startswith(one)), key=len, default="")
        words += MORE.get(begun, ())
        if begun.startswith("audit") and not {"--region", "google"} & set(words):
            words += IN_PART
        if begun == "serve":
            return self._served(words)
        clouds = {} if self.projects is None else self.projects.environment
        done = plimsoll(self.organization, self.folder, *words, **clouds, **self.variables)
        if written.to is not None:
            (self.folder / written.to).write_text(done.stdout, encoding="utf-8")
        return done.returncode, done.stdout + done.stderr

    def _write_configuration(self) -> None:
        """Writes a configuration of Terraform with the volume that the pages name, and its state."""
        (self.folder / "infrastructure").mkdir()
        text = (
            'resource "aws_ebs_volume" "data" {\n  availability_zone = "eu-west-1a"\n  type = "gp2"\n  size = 100\n}\n'
        )
        (self.folder / "infrastructure" / "main.tf").write_text(text, encoding="utf-8")
        values = {"id": self.names.get("vol-0123456789abcdef0", "vol-0123456789abcdef0")}
        made = {"address": "aws_ebs_volume.data", "type": "aws_ebs_volume", "values": values}
        state = {"values": {"root_module": {"resources": [made]}}}
        (self.folder / "state.json").write_text(json.dumps(state), encoding="utf-8")

    def _here(self, word: str) -> list[str]:
        """What a word of a page is here; what a shell would put in the place of `$(...)` may be several words."""
        found = self.names.get(word, word)
        return found.split() if word.startswith("$(") else [found]

    def _served(self, words: list[str]) -> tuple[int, str]:
        """Of what goes on until Ctrl-C: reads the page that it says it shows, and presses Ctrl-C."""
        process = subprocess.Popen(
            command(*words),
            cwd=self.folder,
            env={**environment(self.organization, **self.variables), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdout is not None
            told = process.stdout.readline()
            given = {"Authorization": f"Bearer {TOKEN}"}
            with urllib.request.urlopen(urllib.request.Request(told.split()[0], headers=given), timeout=60) as page:
                assert page.status == 200
                page.read()
            os.kill(process.pid, signal.SIGINT)
            return process.wait(timeout=60), told
