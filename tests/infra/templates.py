"""Templates as tests read them: resources by type, statements by who may make use of them, definitions as JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVICE = ("data", "audit", "validation", "probe", "change", "slack")
MEMBERS = ("member-audit", "member-validation", "member-probe", "member-change", "member-change-plan")


@dataclass(frozen=True)
class Templates:
    """The templates in a folder that CDK has written."""

    folder: Path

    def __getitem__(self, stack: str) -> dict[str, Any]:
        return json.loads(self.path(stack).read_text(encoding="utf-8"))

    def path(self, stack: str) -> Path:
        return self.folder / f"{stack}.template.json"

    def resources(self, kind: str, stacks: tuple[str, ...] = SERVICE) -> dict[str, dict[str, Any]]:
        """The properties of the resources of a type, by stack and logical id."""
        return {
            f"{stack}/{name}": found["Properties"]
            for stack in stacks
            for name, found in self[stack]["Resources"].items()
            if found["Type"] == kind
        }

    def statements(self, stacks: tuple[str, ...] = (*SERVICE, *MEMBERS)) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every statement of every role's policy, with the stack and the logical id of the policy."""
        for stack in stacks:
            for name, policy in self.resources("AWS::IAM::Policy", (stack,)).items():
                for statement in policy["PolicyDocument"]["Statement"]:
                    yield name, plain(statement)

    def allowed_to(self, function: str) -> list[dict[str, Any]]:
        """The statements of one function's role."""
        policy = "".join(word.capitalize() for word in function.split("_")) + "Role"
        return [found for name, found in self.statements(SERVICE) if name.partition("/")[2].startswith(policy)]

    def definition(self, kind: str) -> dict[str, Any]:
        """The state machine of that kind, with the handlers of its functions in the place of their ARNs."""
        machines = self.resources("AWS::StepFunctions::StateMachine").values()
        (machine,) = (found for found in machines if found["StateMachineName"] == f"plimsoll-main-{kind}")
        functions = self.resources("AWS::Lambda::Function").items()
        handlers = {name.partition("/")[2]: found["Handler"] for name, found in functions}
        return json.loads(plain(machine["DefinitionString"], handlers))


def plain(value: Any, named: dict[str, str] | None = None) -> Any:
    """A value of a template with its references as text: ${AWS::Region}, ${Function.Arn} or what `named` says."""
    match value:
        case {"Ref": str(name)}:
            return f"${{{name}}}"
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"${{{(named or {}).get(name, f'{name}.{attribute}')}}}"
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(plain(part, named) for part in parts)
        case dict():
            return {key: plain(each, named) for key, each in value.items()}
        case list():
            return [plain(each, named) for each in value]
        case _:
            return value


def listed(value: Any) -> list[Any]:
    """One or many, as a list."""
    return value if isinstance(value, list) else [value]
