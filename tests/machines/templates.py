"""Synthesized CloudFormation templates, read as CloudFormation would: what a reference stands for, in any stack."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_NAMES: Final = {
    "AWS::S3::Bucket": "BucketName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::DynamoDB::GlobalTable": "TableName",
    "AWS::SSM::Parameter": "Name",
    "AWS::Events::EventBus": "Name",
    "AWS::SecretsManager::Secret": "Name",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::StepFunctions::StateMachine": "StateMachineName",
}
_ARNS: Final = {
    "AWS::S3::Bucket": "arn:aws:s3:::{name}",
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:{region}:{account}:table/{name}",
    "AWS::DynamoDB::GlobalTable": "arn:aws:dynamodb:{region}:{account}:table/{name}",
    "AWS::Events::EventBus": "arn:aws:events:{region}:{account}:event-bus/{name}",
    "AWS::Lambda::Function": "arn:aws:lambda:{region}:{account}:function:{name}",
    "AWS::StepFunctions::StateMachine": "arn:aws:states:{region}:{account}:stateMachine:{name}",
}
_LONGEST_NAME: Final = 63
_IN_SUB: Final = re.compile(r"\$\{([^!}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource with its properties as they were given; `name` is what it is deployed under."""

    stack: str
    logical_id: str
    kind: str
    name: str
    properties: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Templates:
    """The templates of an app by stack, deployed to one account and region."""

    stacks: Mapping[str, Any]
    account: str
    region: str
    _exports: dict[str, tuple[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, assembly: Path, *, account: str, region: str) -> "Templates":
        """Those of a cloud assembly's folder."""
        found = {path.name.removesuffix(".template.json"): path for path in sorted(assembly.glob("*.template.json"))}
        return cls(
            stacks={name: json.loads(path.read_text()) for name, path in found.items()}, account=account, region=region
        )

    def resources(self, *kinds: str) -> Iterator[Resource]:
        """All resources of those types, with every reference in their properties resolved."""
        for stack, template in self.stacks.items():
            for logical_id, given in template.get("Resources", {}).items():
                if given["Type"] in kinds:
                    yield Resource(
                        stack=stack,
                        logical_id=logical_id,
                        kind=given["Type"],
                        name=self._name(stack, logical_id),
                        properties=self.value(stack, given.get("Properties", {})),
                    )

    def arn(self, resource: Resource) -> str:
        """A resource's Amazon Resource Name."""
        return _ARNS[resource.kind].format(name=resource.name, region=self.region, account=self.account)

    def value(self, stack: str, given: Any) -> Any:
        """What a value of a template is once all in it is known."""
        if isinstance(given, list):
            return [self.value(stack, item) for item in given]
        if not isinstance(given, Mapping):
            return given
        if len(given) == 1:
            (word, argument) = next(iter(given.items()))
            if word == "Ref" or word.startswith("Fn::"):
                return self._intrinsic(stack, word, argument)
        return {key: self.value(stack, item) for key, item in given.items()}

    def _intrinsic(self, stack: str, word: str, argument: Any) -> Any:
        match word, argument:
            case "Ref", str(name):
                return self._reference(stack, name)
            case "Fn::GetAtt", [str(logical_id), str(attribute)]:
                return self._attribute(stack, logical_id, attribute)
            case "Fn::Join", [str(between), parts]:
                return between.join(str(part) for part in self.value(stack, parts))
            case "Fn::Sub", str(text):
                return _IN_SUB.sub(lambda found: self._substituted(stack, found.group(1)), text)
            case "Fn::Select", [index, parts]:
                return self.value(stack, parts)[int(index)]
            case "Fn::Split", [str(between), text]:
                return self.value(stack, text).split(between)
            case "Fn::ImportValue", name:
                return self._imported(self.value(stack, name))
            case _:
                raise NotImplementedError(
                    f"{word} of {argument!r} in {stack}: teach tests/machines/templates.py to read it."
                )

    def _substituted(self, stack: str, inside: str) -> str:
        logical_id, dot, attribute = inside.partition(".")
        return str(self._attribute(stack, logical_id, attribute) if dot else self._reference(stack, logical_id))

    def _reference(self, stack: str, name: str) -> str:
        pseudo = {
            "AWS::Region": self.region,
            "AWS::AccountId": self.account,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackName": stack,
        }
        if name in pseudo:
            return pseudo[name]
        parameter = self.stacks[stack].get("Parameters", {}).get(name)
        if parameter is not None:
            return str(parameter.get("Default", name))
        if self.stacks[stack]["Resources"][name]["Type"] == "AWS::StepFunctions::StateMachine":
            return self._attribute(stack, name, "Arn")
        return self._name(stack, name)

    def _attribute(self, stack: str, logical_id: str, attribute: str) -> str:
        kind = self.stacks[stack]["Resources"][logical_id]["Type"]
        name = self._name(stack, logical_id)
        if attribute == "Arn" and kind in _ARNS:
            return _ARNS[kind].format(name=name, region=self.region, account=self.account)
        return name if attribute in {"Name", _NAMES.get(kind)} else f"{name}.{attribute}"

    def _name(self, stack: str, logical_id: str) -> str:
        given = self.stacks[stack]["Resources"][logical_id]
        key = _NAMES.get(given["Type"])
        named = given.get("Properties", {}).get(key) if key else None
        return str(self.value(stack, named)) if named else f"{stack}-{logical_id}".lower()[-_LONGEST_NAME:].lstrip("-")

    def _imported(self, name: str) -> Any:
        if not self._exports:
            self._exports = {
                str(self.value(stack, output["Export"]["Name"])): (stack, output["Value"])
                for stack, template in self.stacks.items()
                for output in template.get("Outputs", {}).values()
                if "Export" in output
            }
        return self.value(*self._exports[name])
