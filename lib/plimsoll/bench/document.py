"""The one document that Plimsoll runs on hosts: its content, its parameters, and its commands as an agent makes them.

`document.yaml` holds the parameters and their patterns, `script/` the shell script in parts. The agent pastes
parameters into the commands as text, so the patterns are what keeps a value from becoming a command.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from plimsoll.domain.errors import BadInput
from plimsoll.domain.task import Task, TaskMode

DOCUMENT_NAME: Final = "Plimsoll-Benchmark"

_REFERENCE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PARTS: Final = ("answer", "bounds", "device", "filesystem", "job", "bench", "engine", "result", "inspect", "main")
"""The script's parts, in their order; only the last one does anything."""


def document() -> dict[str, Any]:
    """The document's content, SSM schema 2.2, as plain data."""
    content: dict[str, Any] = json.loads(_content())
    return content


def document_hash() -> str:
    """16 hexadecimal digits that change with the content; a version of the document is named after them."""
    return hashlib.sha256(_content().encode()).hexdigest()[:16]


def parameters_of(task: Task, device_name: str = "") -> dict[str, list[str]]:
    """A task as the document's parameters; BadInput when a value does not match its pattern.

    `device_name` is the name under which the volume is attached, where only that tells which device it is.
    """
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
    _check(values)
    if task.mode is not TaskMode.INSPECT and not task.volume_id:
        raise BadInput(f"the mode {task.mode.value} of {DOCUMENT_NAME} needs a volume: give its id as VolumeId.")
    return {name: [value] for name, value in values.items()}


def rendered(parameters: Mapping[str, Sequence[str]]) -> list[str]:
    """The commands as the agent makes them of parameters, defaults included; BadInput for what the document refuses.

    The agent replaces each `{{ Name }}` by its value, one name after the other (amazon-ssm-agent, docparser).
    """
    content = document()
    declared: Mapping[str, Mapping[str, str]] = content["parameters"]
    given = {name: ",".join(values) for name, values in parameters.items()}
    values = {name: told["default"] for name, told in declared.items() if "default" in told} | given
    missing = [name for name in declared if name not in values]
    if missing:
        raise BadInput(f"{DOCUMENT_NAME} needs the parameter {missing[0]}, and it was not given.")
    _check(values)
    commands: list[str] = content["mainSteps"][0]["inputs"]["runCommand"]
    return [pasted(command, values) for command in commands]


def pasted(text: str, values: Mapping[str, str]) -> str:
    """A text with every `{{ Name }}` of a parameter replaced by its value, as the agent does; other names stay."""
    return _REFERENCE.sub(lambda found: values.get(found.group(1), found.group(0)), text)


def _check(values: Mapping[str, str]) -> None:
    declared = document()["parameters"]
    for name, value in values.items():
        if name not in declared:
            raise BadInput(f"{DOCUMENT_NAME} has no parameter {name}: it has {', '.join(declared)}.")
        pattern, most = declared[name]["allowedPattern"], declared[name].get("maxChars")
        if re.fullmatch(pattern, value) is None or value.endswith("\n"):
            raise BadInput(f"the parameter {name} of {DOCUMENT_NAME} must match {pattern}, and {value!r:.60} does not.")
        if most is not None and len(value) > most:
            raise BadInput(f"the parameter {name} of {DOCUMENT_NAME} has {len(value)} of at most {most} characters.")


@cache
def _content() -> str:
    here = files("plimsoll.bench")
    content = yaml.safe_load((here / "document.yaml").read_text(encoding="utf-8"))
    script = "\n".join((here / "script" / f"{part}.sh").read_text(encoding="utf-8") for part in _PARTS)
    content["mainSteps"][0]["inputs"]["runCommand"] += script.splitlines()
    return json.dumps(content)
