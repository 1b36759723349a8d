"""What the emulator's CloudFormation cannot make, so that it is left out of what is deployed there (docs/deploy.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """A kind of resource, one of its kind alone, and what the emulator answers to it."""

    is_one: Callable[[Resource], bool]
    example: Resource
    refusal: str


LACKING: Final[Mapping[str, Lacking]] = {
    "Athena's saved queries": Lacking(
        is_one=lambda found: found["Type"] == "AWS::Athena::NamedQuery",
        example={"Type": "AWS::Athena::NamedQuery", "Properties": {"Database": "plimsoll", "QueryString": "select 1"}},
        refusal="Unrecognized resource types: [AWS::Athena::NamedQuery]",
    ),
    "alarms of metric math": Lacking(
        is_one=lambda found: found["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in found["Properties"],
        example={
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1,
                "Threshold": 1,
                "Metrics": [{"Id": "e", "Expression": "TIME_SERIES(1)", "ReturnData": True}],
            },
        },
        refusal="(metric math) is not supported",
    ),
}


def left_out(template: Mapping[str, Any]) -> dict[str, set[str]]:
    """The logical ids of each kind in a template."""
    resources = template["Resources"].items()
    return {kind: {name for name, one in resources if lacking.is_one(one)} for kind, lacking in LACKING.items()}


def without(template: Mapping[str, Any]) -> dict[str, Any]:
    """The template without any of them."""
    names = set().union(*left_out(template).values())
    return {**template, "Resources": {name: one for name, one in template["Resources"].items() if name not in names}}
