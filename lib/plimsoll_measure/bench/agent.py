"""The agent of bench VMs on which no cloud service runs commands: one startup script with the document's own script.

`script/google-agent.sh` waits, runs and answers. It has the document's parameters and their patterns as a shell
function. So both ways to run the script accept and refuse the same values.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from plimsoll.model.task import Task
from plimsoll_measure.bench.document import document, parameters_of

TASK_KEY: Final = "plimsoll-task"
CANCEL_KEY: Final = "plimsoll-cancel"
"""The metadata keys that hold the latest task, and the id of the latest task that is to stop."""

_END: Final = "END_OF_THE_MEASURING_SCRIPT"
_ASSIGNMENT: Final = re.compile(r"([A-Z_]+)='\{\{ (\w+) \}\}'")
_MOST_CHARS: Final = 64


def device_name(volume_id: str) -> str:
    """The name under which a scratch volume is attached. The script finds the device by it."""
    return f"plimsoll-{volume_id}"


def task_text(task: Task, device_name: str, *, task_id: str, until_s: int) -> str:
    """A task as the agent reads it: a line for each value. It may begin until `until_s` (epoch seconds).

    Raises BadInput if a value does not match its pattern.
    """
    values = {name: value for name, (value,) in parameters_of(task, device_name).items()}
    return "".join(f"{name}={value}\n" for name, value in {"id": task_id, "until": until_s, **values}.items())


def agent_version() -> str:
    """16 hexadecimal digits that change with the agent or the script that it runs."""
    return hashlib.sha256(_parts().encode()).hexdigest()[:16]


@cache
def agent_script() -> str:
    """The startup script of a bench VM."""
    return f"#!/bin/sh\nVERSION='{agent_version()}'\n{_parts()}"


@cache
def _parts() -> str:
    commands: Sequence[str] = document()["mainSteps"][0]["inputs"]["runCommand"]
    variables = {match[2]: match[1] for match in map(_ASSIGNMENT.fullmatch, commands) if match}
    measuring = "\n".join(commands[len(variables) :])
    agent = (files("plimsoll_measure.bench") / "script" / "google-agent.sh").read_text(encoding="utf-8")
    script_function = f"measuring_script() {{\n  cat <<'{_END}'\n{measuring}\n{_END}\n}}\n"
    return f"{_value_of(variables)}\n{script_function}\n{agent}"


def _value_of(variables: Mapping[str, str]) -> str:
    """The shell function of the parameters: it prints their names, or the variable of one with an allowed value."""
    declared = document()["parameters"]
    cases = "\n".join(
        f"  {name}) variable={variables[name]} most={parameter.get('maxChars', _MOST_CHARS)} "
        f"pattern='{parameter['allowedPattern']}' ;;"
        for name, parameter in declared.items()
    )
    return (
        f"value_of() {{\n  case $1 in\n  names)\n    echo '{' '.join(declared)}'\n    return 0\n    ;;\n{cases}\n"
        "  *) return 1 ;;\n  esac\n"
        '  [ "${#2}" -le "${most}" ] || return 1\n'
        '  printf \'%s\\n\' "$2" | grep -a -q -x -E "${pattern}" || return 1\n'
        '  echo "${variable}"\n}\n'
    )
