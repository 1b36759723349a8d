"""Documents as Systems Manager takes them: parameters checked by their patterns, and a step's script with them in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cloud_simulator.faults import Refused

_DEFAULT_LIMIT_S: Final = 3600
_REFERENCE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A step of a document, ready to run: its name, its shell script, how long it may take, and what it was given."""

    step: str
    text: str
    limit_s: float
    given: Mapping[str, str]


def script_of(content: Mapping[str, Any], given: Mapping[str, Sequence[str]]) -> Script:
    """The script of a document of schema 2.2 with these parameters; Refused, with SSM's codes, for what is wrong."""
    if str(content.get("schemaVersion")) != "2.2":
        raise Refused("InvalidDocumentSchemaVersion", "The version of the document schema is not supported.")
    steps = [step for step in content.get("mainSteps", []) if step.get("action") == "aws:runShellScript"]
    if len(steps) != 1:
        raise Refused("InvalidDocument", f"The simulated hosts run one aws:runShellScript step, not {len(steps)}.")
    (step,) = steps
    values = _values(content.get("parameters", {}), given)
    lines = step["inputs"]["runCommand"]
    limit = _filled(str(step["inputs"].get("timeoutSeconds", _DEFAULT_LIMIT_S)), values)
    return Script(
        step=step["name"],
        text="\n".join(_filled(line, values) for line in ([lines] if isinstance(lines, str) else lines)) + "\n",
        limit_s=float(limit),
        given=values,
    )


def _values(declared: Mapping[str, Any], given: Mapping[str, Sequence[str]]) -> dict[str, str]:
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        raise Refused("InvalidParameters", f"The document has no parameters named {', '.join(unknown)}.")
    return {name: _value(name, rule, given.get(name)) for name, rule in declared.items()}


def _value(name: str, rule: Mapping[str, Any], given: Sequence[str] | None) -> str:
    if given is None:
        if "default" not in rule:
            raise Refused("InvalidParameters", f"Missing required parameter {name}.")
        return str(rule["default"])
    if len(given) != 1 or rule.get("type", "String") != "String":
        raise Refused("InvalidParameters", f"Parameter {name} takes one String.")
    (value,) = given
    pattern, allowed = rule.get("allowedPattern"), rule.get("allowedValues")
    fits = (pattern is None or re.fullmatch(pattern, value)) and (allowed is None or value in allowed)
    if not fits or not int(rule.get("minChars", 0)) <= len(value) <= int(rule.get("maxChars", len(value))):
        raise Refused("InvalidParameters", f"Parameter {name} has a value that its pattern does not allow.")
    return value


def _filled(text: str, values: Mapping[str, str]) -> str:
    """A text with every `{{ Name }}` of a parameter replaced by its value; other names stay."""
    return _REFERENCE.sub(lambda found: values.get(found.group(1), found.group(0)), text)
