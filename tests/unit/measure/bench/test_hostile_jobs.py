"""Hostile jobs, by the script and by Google's agent: nothing is written but the volume, and nothing is run."""

import base64
import hashlib
import json
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from plimsoll_measure.bench.agent import TASK_KEY
from plimsoll_measure.bench.document import parameters_of, render_commands
from tests.profiles import PROFILE
from tests.unit.measure.bench.hostile_jobs import PLAIN, jobs
from tests.unit.measure.bench.hosts import MIB, a_task, a_volume, commands, environment, eventually, formatted, holding
from tests.unit.measure.bench.test_agent import VM, a_text, a_vm

pytestmark = [pytest.mark.needs("loop", "fio")]

STEP = 1 if PROFILE == "all" else 6
"""What shares its checks with what runs the whole table runs one of so many jobs on a push."""

AGENT_DISK = "4263976033879601115"


class Host:
    """A host with the volume that is to be measured, and others that hold data, a filesystem and nothing."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        prepared = (None, holding((3 * MIB, b"theirs")), formatted("ext4"), None)
        self.folder = folder
        self.volume, *self.others = [stack.enter_context(a_volume(folder, 16, prepare=one)) for one in prepared]
        self.mark, self.include = folder / "mark", folder / "include.fio"
        self.include.write_text(f"[theirs]\nfilename={self.others[0].device}\nexec_prerun=touch {self.mark}\n")
        self.before = [_digest(one.image) for one in self.others]

    def jobs(self) -> list[tuple[str, bytes]]:
        return list(jobs(self.others[0].device, str(self.mark), str(self.include)))

    def harm(self) -> list[str]:
        """What was done but to the volume."""
        subprocess.run(["sync"], check=True)
        changed = [one.device for one, was in zip(self.others, self.before, strict=True) if _digest(one.image) != was]
        return changed + [str(self.mark)] * self.mark.exists()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with ExitStack() as stack:
        yield Host(tmp_path_factory.mktemp("host"), stack)


def measure(host: Host, job: bytes, **changes) -> subprocess.CompletedProcess[str]:
    parameters = parameters_of(a_task(volume_id=host.volume.id, job="", **{"limit_s": 30, **changes}))
    script = "\n".join(render_commands(parameters | {"Job": [base64.b64encode(job).decode()]}))
    return subprocess.run(
        ["/bin/sh", "-c", script],
        env=environment(host.folder, {}),
        cwd=host.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("initialize", [False, True], ids=["empty", "copy"])
def test_the_script_refuses_every_hostile_job_and_no_device_changes(host, initialize):
    before = _digest(host.volume.image)
    taken = {}
    for what, job in host.jobs()[:: STEP if initialize else 1]:
        told = measure(host, job.replace(b"randwrite", b"randread") if initialize else job, initialize=initialize)
        if told.returncode != 1 or json.loads(told.stdout)["error"]["stage"] != "job":
            taken[what] = told.stdout
        assert not host.mark.exists(), what
    assert taken == {}
    assert host.harm() == []
    assert _digest(host.volume.image) == before


ALLOWED = {
    "as it is": PLAIN,
    "no end of the last line": PLAIN.rstrip(b"\n"),
    "blanks and comments": b" [a] \n  # all\n;\n" + PLAIN.partition(b"\n")[2].replace(b"=", b"  = "),
    "a line as long as it may be": PLAIN + b"; " + b"x" * 998 + b"\n",
    "more than there is": PLAIN.replace(b"io_size=64k", b"io_size=64m\nnumjobs=2\nrw=write\nbs=1m"),
    "sections that begin like fio's own": PLAIN + b"[global-b]\nbs=8k\n[c]\nrw=randread\nio_size=64k\n",
}


@pytest.mark.parametrize("what", ALLOWED)
def test_what_is_allowed_is_written_to_the_volume_alone_and_inside_its_bounds(what, host):
    told = measure(host, ALLOWED[what])
    assert told.returncode == 0, told.stdout
    assert host.harm() == []
    written = host.volume.image.read_bytes()
    assert not any(written[:MIB])
    assert not any(written[-MIB:])
    assert any(written)


WRITES = (
    "rw=write",
    "rw=randwrite",
    "rw=rw",
    "rw=randrw",
    "readwrite=readwrite",
    "rw=readwrite",
    "readwrite=randwrite",
)


def test_a_job_that_writes_is_refused_on_a_copy_whatever_else_it_says(host):
    before = _digest(host.volume.image)
    for line in WRITES:
        for job in (f"[a]\n{line}\nbs=4k\n", f"[a]\nrw=read\nbs=4k\n[b]\nrw=read\n{line}\n", f"{line}\n[a]\nbs=4k\n"):
            told = measure(host, job.encode(), initialize=True)
            assert "only reads are measured on a copy" in json.loads(told.stdout)["error"]["text"]
    assert _digest(host.volume.image) == before


BROKEN = ("base64", "tr", "wc", "awk", "sed", "grep")


@pytest.mark.parametrize("tool", BROKEN)
@pytest.mark.parametrize("end", ["exit 0", "exit 1", "exit 2", "exit 127", "kill -9 $$"])
def test_a_check_of_the_job_that_could_not_run_is_a_refusal(tool, end, host):
    """Whatever one of the tools does instead of its work: nothing is run, and nothing is written."""
    before = _digest(host.volume.image)
    front = host.folder / "broken"
    front.mkdir(exist_ok=True)
    (front / tool).write_text(f"#!/bin/sh\n{end}\n")
    (front / tool).chmod(0o755)
    attack = f"filename={host.others[0].device}\nexec_prerun=touch {host.mark}\n".encode()
    task = a_task(volume_id=host.volume.id, job=(PLAIN + attack).decode(), limit_s=10)
    try:
        path = f"{front}:{environment(host.folder, {})['PATH']}"
        told = subprocess.run(
            ["/bin/sh", "-c", commands(task)],
            env=environment(host.folder, {"PATH": path}),
            cwd=host.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        (front / tool).unlink()
    assert told.returncode != 0
    assert host.harm() == []
    assert _digest(host.volume.image) == before


@contextmanager
def an_agent(host: Host, folder: Path, tasks: int):
    """The agent on that host, where the volume is attached under the name that a task tells."""
    link = Path("/dev/disk/by-id") / f"google-plimsoll-{AGENT_DISK}"
    link.symlink_to(host.volume.device)
    try:
        with a_vm(folder, PLIMSOLL_TASKS=str(tasks), PLIMSOLL_SIMULATED_DEVICE="") as metadata:
            yield metadata
    finally:
        link.unlink()


def test_the_agent_refuses_every_hostile_job_and_no_device_changes(host, tmp_path):
    before = _digest(host.volume.image)
    table = host.jobs()[::STEP]
    taken = {}
    with an_agent(host, tmp_path, len(table)) as metadata:
        plain = a_text(job="").splitlines()
        for number, (_, job) in enumerate(table):
            own = {"id": f"t-{number}", "Job": base64.b64encode(job).decode(), "until": str(int(time.time()) + 600)}
            lines = [line for line in plain if line.partition("=")[0] not in own]
            text = "".join(f"{line}\n" for line in [*lines, *(f"{key}={value}" for key, value in own.items())])
            metadata.set(VM, {TASK_KEY: text}, metadata.of(VM).fingerprint)
            assert eventually(lambda number=number: f"t-{number}-state" in metadata.of(VM).guest)
        for number, (what, _) in enumerate(table):
            assert eventually(lambda number=number: f"t-{number}-end" in metadata.of(VM).guest)
            guest = metadata.of(VM).guest
            if "\nexit=1\n" not in guest[f"t-{number}-end"] or '"stage":"job"' not in guest.get(f"t-{number}-0", ""):
                taken[what] = guest[f"t-{number}-end"]
    assert taken == {}
    assert host.harm() == []
    assert _digest(host.volume.image) == before
