"""A simulated host as a place to run scripts in: its control group, its tools, its stand-ins for what it lacks."""

import base64
import binascii
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cloud_simulator.devices import paced_fio
from cloud_simulator.devices.block_devices import SIMULATED_DEVICE, Surroundings

LOCK: Final = "PLIMSOLL_LOCK"
"""The variable that names the file by which measurements on one host wait for each other."""

SIMULATED_LOOPS: Final = "PLIMSOLL_SIMULATED_LOOPS"
"""The variable that says that loop devices stand for volumes: what their files lie on is nothing of the host's."""

_JOIN: Final = 'echo $$ > "$1/cgroup.procs" && exec /bin/sh "$2"'
_PLAIN: Final = 'exec /bin/sh "$2"'
_INSTALLERS: Final = ("apt-get", "apt", "dnf", "yum", "zypper", "apk")
_NO_NETWORK: Final = "#!/bin/sh\necho 'Could not resolve host: mirrors.invalid' >&2\nexit 1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a script's run.

    `lock` is a file of the host's own. `tools` stand before the machine's own by name (the text of each); `lacks_fio`
    takes fio and the way to install it. `environment` are other variables that are set there.
    """

    surroundings: Surroundings
    lock: Path
    read_share: float | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    lacks_fio: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a process. `status` and `details` are Systems Manager's words."""

    status: str
    details: str
    code: int
    output: str = ""
    errors: str = ""


def run_script(script: str, limit_s: float, place: Place, folder: Path) -> Ended:
    """Runs a script to its end, or kills it and all that it started at its limit."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="command-", ignore_cleanup_errors=True) as made:
        command_folder = Path(made)
        (command_folder / "script.sh").write_text(script, encoding="utf-8")
        with (command_folder / "stdout").open("wb") as out, (command_folder / "stderr").open("wb") as errors:
            group = place.surroundings.group
            words = [
                "/bin/sh",
                "-c",
                _PLAIN if group is None else _JOIN,
                "sh",
                str(group),
                str(command_folder / "script.sh"),
            ]
            environment = _environment(place, command_folder)
            with subprocess.Popen(  # noqa: S603  # the document that a caller stored, as the host's agent runs it
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment, start_new_session=True
            ) as process:
                late = _kill_at_limit(process, limit_s)
        output = (command_folder / "stdout").read_text(encoding="utf-8", errors="replace")
        messages = (command_folder / "stderr").read_text(encoding="utf-8", errors="replace")
    if late:
        return Ended(status="TimedOut", details="Execution Timed Out", code=137, output=output, errors=messages)
    word = "Success" if process.returncode == 0 else "Failed"
    return Ended(status=word, details=word, code=process.returncode, output=output, errors=messages)


def _kill_at_limit(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Waits for the process, and kills it at its limit. True if it was killed."""
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def _environment(place: Place, folder: Path) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    if place.lacks_fio:
        path = str(_without_fio(path, folder / "machine"))
    tools = dict(place.tools)
    environment = {"HOME": str(folder), "LANG": "C.UTF-8", "TMPDIR": str(folder), LOCK: str(place.lock)}
    environment |= {SIMULATED_LOOPS: "1", **place.environment}
    if place.surroundings.plain is not None:
        environment[SIMULATED_DEVICE] = str(place.surroundings.plain)
        if not place.lacks_fio:
            tools["fio"] = _paced_fio_script(place)
    for name, text in tools.items():
        _executable(folder / "tools" / name, text)
    return {**environment, "PATH": f"{folder / 'tools'}:{path}" if tools else path}


def _paced_fio_script(place: Place) -> str:
    """fio that holds itself to the volume's rates."""
    ceiling, share = place.surroundings.ceiling, place.read_share
    words = [sys.executable, paced_fio.__file__, f"{ceiling.iops:.0f}", f"{ceiling.throughput_mib_s:.3f}"]
    quoted = " ".join(f"'{word}'" for word in [*words, "" if share is None else f"{share:.4f}"])
    return f'#!/bin/sh\nexec {quoted} "$@"\n'


def _without_fio(path: str, folder: Path) -> Path:
    """A folder with every tool of the machine but fio, and installers that reach no network."""
    folder.mkdir()
    for name in _INSTALLERS:
        _executable(folder / name, _NO_NETWORK)
    for place in path.split(os.pathsep):
        for tool in Path(place).glob("*") if os.access(place, os.R_OK | os.X_OK) else ():
            if tool.name != "fio" and not (folder / tool.name).is_symlink() and tool.name not in _INSTALLERS:
                (folder / tool.name).symlink_to(tool)
    return folder


def _executable(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


_OPTION: Final = re.compile(r"^\s*(rw|readwrite|rwmixread|rwmixwrite)\s*=\s*(\w+)\s*$", re.MULTILINE)
_MIXED: Final = {"rw", "randrw", "readwrite"}
_EVEN_PCT: Final = 50.0


def read_share_of(job: str) -> float | None:
    """The share of reads, 0 to 1, of the first mix in a job file, in base64 or plain; None where it mixes nothing."""
    with contextlib.suppress(binascii.Error, UnicodeDecodeError):
        job = base64.b64decode(job, validate=True).decode("utf-8")
    options = _OPTION.findall(job)
    if not any(name in {"rw", "readwrite"} and value in _MIXED for name, value in options):
        return None
    by_name = dict(reversed(options))
    if "rwmixwrite" in by_name:
        return 1 - float(by_name["rwmixwrite"]) / 100
    return float(by_name.get("rwmixread", _EVEN_PCT)) / 100
