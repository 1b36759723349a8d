"""The documents that Plimsoll runs on hosts: their content, parameters, and commands as an agent makes them.

One measures (`document.yaml` and the shell script in `script/`), and one only reads (`probe/`). A `document.yaml` holds
the parameters and their patterns. The agent pastes parameters into the commands as text, so the patterns are what keeps
a value from becoming a command.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

import yaml

from plimsoll.clouds.aws.names import DOCUMENT_NAME, PROBE_DOCUMENT_NAME
from plimsoll.model.errors import BadInput
from plimsoll.model.task import Task, TaskMode

_REFERENCE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PARTS: Final = ("answer", "bounds", "device", "filesystem", "job", "bench", "engine", "result", "inspect", "main")
"""The script's parts in order. Only the last one does anything."""

_END_OF_THE_PROBE: Final = """END_OF_THE_PROBE
done
echo '{"plimsoll":1,"error":{"stage":"python","text":"the host has no Python of version 3.7 or newer"}}'
exit 1
"""
"""The script after the probe's Python. The shell reaches it only if the host has no Python."""


def document_name(task: Task) -> str:
    """The document that carries out a task."""
    return PROBE_DOCUMENT_NAME if task.mode is TaskMode.PROBE else DOCUMENT_NAME


def document(name: str = DOCUMENT_NAME) -> dict[str, Any]:
    """The content of the document of that name, SSM schema 2.2, as plain data."""
    content: dict[str, Any] = json.loads(_content(name))
    return content


def document_hash(name: str = DOCUMENT_NAME) -> str:
    """16 hexadecimal digits that change with the content. They name a version of the document."""
    return hashlib.sha256(_content(name).encode()).hexdigest()[:16]


def version_name(name: str) -> str:
    """The name of the document's version with this content."""
    return f"plimsoll-{document_hash(name)}"


def parameters_of(task: Task, device_name: str = "") -> dict[str, list[str]]:
    """A task as its document's parameters. Raises BadInput if a value does not match its pattern.

    `device_name` is the name under which the volume is attached, if only that tells its device.
    """
    if task.mode is TaskMode.PROBE:
        asked = {
            "VolumeIds": ",".join(task.volume_ids),
            "Seconds": str(task.seconds),
            "LimitSeconds": str(task.limit_s),
        }
        _check(asked, PROBE_DOCUMENT_NAME)
        return {name: [value] for name, value in asked.items()}
    values = {
        "Mode": task.mode.value,
        "VolumeId": "" if task.mode is TaskMode.INSPECT else task.volume_id,
        "DeviceName": device_name,
        "Job": base64.b64encode(task.job.encode()).decode("ascii"),
        "LimitSeconds": str(task.limit_s),
        "Initialize": "copy" if task.initialize else "no",
        "FileSizeMib": str(task.file_size_mib),
        "MostQueue": str(task.most_queue),
        "MostLatencyUs": str(task.most_latency_us),
    }
    _check(values, DOCUMENT_NAME)
    if task.mode is not TaskMode.INSPECT and not task.volume_id:
        raise BadInput(f"the mode {task.mode.value} of {DOCUMENT_NAME} needs a volume: give its id as VolumeId.")
    return {name: [value] for name, value in values.items()}


def render_commands(parameters: Mapping[str, Sequence[str]], document_name: str = DOCUMENT_NAME) -> list[str]:
    """The commands that the agent makes of parameters and defaults. Raises BadInput if the document refuses a value.

    The agent replaces each `{{ Name }}` by its value, one name after the other (amazon-ssm-agent, docparser).
    """
    content = document(document_name)
    declared: Mapping[str, Mapping[str, str]] = content["parameters"]
    joined = {name: ",".join(values) for name, values in parameters.items()}
    values = {name: parameter["default"] for name, parameter in declared.items() if "default" in parameter} | joined
    missing = [name for name in declared if name not in values]
    if missing:
        raise BadInput(f"{document_name} needs the parameter {missing[0]}, and it was not given.")
    _check(values, document_name)
    commands: list[str] = content["mainSteps"][0]["inputs"]["runCommand"]
    return [paste_values(command, values) for command in commands]


def paste_values(text: str, values: Mapping[str, str]) -> str:
    """A text with every `{{ Name }}` of a parameter replaced by its value, as the agent does. Other names stay."""
    return _REFERENCE.sub(lambda match: values.get(match.group(1), match.group(0)), text)


def _check(values: Mapping[str, str], document_name: str) -> None:
    declared = document(document_name)["parameters"]
    for name, value in values.items():
        if name not in declared:
            raise BadInput(f"{document_name} has no parameter {name}: it has {', '.join(declared)}.")
        pattern, most = declared[name]["allowedPattern"], declared[name].get("maxChars")
        if re.fullmatch(pattern, value) is None or value.endswith("\n"):
            raise BadInput(f"the parameter {name} of {document_name} must match {pattern}, and {value!r:.60} does not.")
        if most is not None and len(value) > most:
            raise BadInput(f"the parameter {name} of {document_name} has {len(value)} of at most {most} characters.")


@cache
def _content(name: str) -> str:
    folder = files("plimsoll_measure.bench") / ("probe" if name == PROBE_DOCUMENT_NAME else "")
    content = yaml.safe_load((folder / "document.yaml").read_text(encoding="utf-8"))
    script = _probing(folder) if name == PROBE_DOCUMENT_NAME else _measuring(folder)
    content["mainSteps"][0]["inputs"]["runCommand"] += script.splitlines()
    return json.dumps(content)


def _measuring(folder: Traversable) -> str:
    return "\n".join((folder / "script" / f"{part}.sh").read_text(encoding="utf-8") for part in _PARTS)


def _probing(folder: Traversable) -> str:
    """The shell script that starts Python, and the Python that it starts."""
    shell, python = ((folder / name).read_text(encoding="utf-8") for name in ("probe.sh", "on_host.py"))
    return f"{shell}{python}{_END_OF_THE_PROBE}"
