"""Synthesizing by the app as `npx aws-cdk synth` runs it, many times in one process: its start costs most of it.

`python -m tests.infra.synthesis ANSWERS` is that process. It reads a request a line, as JSON: a folder and settings.
It writes each exit code to the file descriptor ANSWERS.
"""

import atexit
import fcntl
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PREFIX: Final = "PLIMSOLL_DEPLOY_"
OUT: Final = "CDK_OUTDIR"
MODIFYING: Final = ("ec2:ModifyVolume", "ec2:ModifyVolumeAttribute")
"""What no role of any template may do unless changes are deployed. Each synthesis of a test looks."""
REGION: Final = "AWS_REGION"
"""The one setting that is no variable of the app's own: the region that the stacks go to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesizer:
    """The process, what it answers, and what it and the Node that it starts have printed so far."""

    process: subprocess.Popen[str]
    answers: IO[str]
    printed: tuple[IO[str], IO[str]]

    def asked(self, folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """What comes of the app with these settings, in that folder."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps({'folder': str(folder), 'settings': dict(settings)})}\n")
        self.process.stdin.flush()
        code = self.answers.readline()
        output, errors = (file.read() for file in self.printed)
        assert code, errors
        return subprocess.CompletedProcess(self.process.args, int(code), output, errors)


def synthesized(folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What comes of the app with these settings, in that folder."""
    done = _synthesizer().asked(folder, settings)
    if done.returncode == 0 and settings.get("WITH_CHANGES") != "true":
        assert not (found := sorted(find_modifying(folder))), found
    return done


def find_modifying(folder: Path) -> Iterator[str]:
    """The statements of all templates of a folder, of whatever resource, that allow to modify a volume."""
    for path in folder.glob("*.template.json"):
        for name, resource in json.loads(path.read_text(encoding="utf-8"))["Resources"].items():
            for statement in _statements(resource):
                actions = statement.get("Action", [])
                listed = actions if isinstance(actions, list) else [actions]
                if statement["Effect"] == "Allow" and ("NotAction" in statement or any(map(_may_modify, listed))):
                    yield f"{path.name}: {name}: {json.dumps(statement)}"


def _may_modify(pattern: str) -> bool:
    return any(fnmatchcase(action.lower(), pattern.lower()) for action in MODIFYING)


def _statements(value: Any) -> Iterator[dict[str, Any]]:
    """Every statement within a resource; a managed policy of AWS, which names none of its actions, is one of all."""
    if isinstance(value, list):
        for each in value:
            yield from _statements(each)
    elif isinstance(value, dict):
        if "Effect" in value:
            yield value
        if value.get("ManagedPolicyArns"):
            yield {"Effect": "Allow", "Action": "*"}
        for each in value.values():
            yield from _statements(each)


def alone(folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """As `synthesized`, in a process of its own, as CDK's command line starts it."""
    return subprocess.run(
        [sys.executable, "-m", "infra.app"],
        cwd=ROOT,
        env={**_environment(), **_given(folder, settings)},
        capture_output=True,
        text=True,
        check=False,
    )


def once_a_run(factory: pytest.TempPathFactory, name: str, settings: Mapping[str, str]) -> Path:
    """The folder with the templates of these settings, by whose name all workers of a run find it."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "manifest.json").exists():
            done = synthesized(folder, settings)
            said = done.stdout + done.stderr
            assert (done.returncode, "WARNING" in said) == (0, False), said
    return folder


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not _is_given(name)}


def _given(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    return {OUT: str(folder), **{name if name == REGION else PREFIX + name: value for name, value in settings.items()}}


def _is_given(variable: str) -> bool:
    return variable.startswith(PREFIX) or variable in {REGION, "AWS_DEFAULT_REGION", "CDK_DEFAULT_REGION"}


@cache
def _synthesizer() -> Synthesizer:
    """The one of this process, until it ends."""
    answers, theirs = os.pipe()
    written = [TemporaryFile("w+", encoding="utf-8") for _ in range(2)]  # noqa: SIM115  # they last as long
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "tests.infra.synthesis", str(theirs)],
        cwd=ROOT,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=written[0],
        stderr=written[1],
        pass_fds=[theirs],
        text=True,
    )
    os.close(theirs)
    # Files of their own on what is written, which read from where they were last.
    printed = [Path(f"/proc/self/fd/{file.fileno()}").open(encoding="utf-8") for file in written]  # noqa: SIM115
    made = Synthesizer(process=process, answers=os.fdopen(answers, encoding="utf-8"), printed=(printed[0], printed[1]))
    atexit.register(_end, made, written)
    return made


def _end(made: Synthesizer, written: list[Any]) -> None:
    with made.process:
        assert made.process.stdin is not None
        made.process.stdin.close()
    for file in (made.answers, *made.printed, *written):
        file.close()


def serve(answers: int) -> None:
    """Synthesizes for every line of standard input until there are no more."""
    from infra.app import main  # noqa: PLC0415  # what asks does not need it

    for line in sys.stdin:
        told = json.loads(line)
        for name in [name for name in os.environ if _is_given(name)]:
            del os.environ[name]
        os.environ.update(_given(Path(told["folder"]), told["settings"]))
        try:
            code = main()
        except Exception:  # noqa: BLE001  # the interpreter tells of every one
            traceback.print_exc()
            code = 1
        os.write(answers, f"{code}\n".encode())


if __name__ == "__main__":
    serve(int(sys.argv[1]))
