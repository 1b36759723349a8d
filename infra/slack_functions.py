"""Slack's functions: how big each is, and what it may do."""

from typing import Final

from aws_cdk import aws_lambda as lambda_

from infra.constructs.service_function import FunctionShape
from infra.function_grants import claims, decisions, facts, idempotency, judging, past_decisions, store
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from plimsoll.clouds.aws.names import SLACK_EXECUTIONS
from plimsoll.clouds.aws.permissions import BEGINNING, BEGUN, HANDING_OVER, SECRET

FRONT: Final = "slack_act"
"""The function that Slack calls. Whoever knows its address can call it too."""

WORKER: Final = "slack_work"
"""The function that carries out actions."""

REPORT: Final = "slack_report"
"""The function that posts an audit's report."""

ANSWER: Final = "slack_answer"
"""The function that answers whoever asked for a validation."""

CHANGES: Final = "slack_changes"
"""The function that posts the news of changes."""

SLACK_ENTERS: Final = (WORKER,)
"""The functions that go into member accounts, as an audit does: to explain a volume as it is now."""

_PROCESSOR_MIB: Final = 1769
"""The memory that comes with one whole processor (AWS Lambda Developer Guide, "Configure Lambda function memory", read
2026-11-22): Slack waits for three seconds, also while the function starts."""

_FRONT_S: Final = 10
"""Far more than those three. A later answer reaches nobody, so the function stops."""

_TELLING_S: Final = 900
"""As long as a function may live (AWS Lambda Developer Guide, "Lambda quotas", read 2026-11-22): Slack takes a message
a second in a channel."""

_FRESH_S: Final = 1800
"""The time in which a request is tried: Slack takes an answer to it for half an hour (Slack, "Handling user
interaction", response_url, read 2026-11-22)."""


def secret_grant(secret_arn: str) -> Grant:
    """Reads the signing secret and the bot token."""
    return Grant(actions=SECRET, resources=(secret_arn,))


def worker_shape(names: Names, deployment: Deployment, secret: Grant) -> FunctionShape:
    """The function that carries out actions: it decides, begins, and reads volumes as an audit does."""
    measuring = (("validation", deployment.with_validation), ("probe", deployment.with_probe))
    kinds = ("audit", *(kind for kind, is_deployed in measuring if is_deployed))
    machines = {kind: names.machine_arn(kind) for kind in kinds}
    return FunctionShape(
        name=WORKER,
        memory_mib=1024,
        timeout_s=600,
        retries=0,
        tried_for_s=_FRESH_S,
        environment={
            **_knowing(names),
            "PLIMSOLL_AUDIT_MACHINE": machines["audit"],
            "PLIMSOLL_VALIDATION_MACHINE": machines.get("validation", ""),
            "PLIMSOLL_PROBE_MACHINE": machines.get("probe", ""),
            **({"PLIMSOLL_FACTS_BUCKET": names.facts} if deployment.with_changes else {}),
        },
        grants=[
            secret,
            decisions(names),
            idempotency(names),
            *store(names, read=("reports/", "measured/", "ledger/", "probes/seen/"), write=("slack/",)),
            Grant(actions=BEGINNING, resources=tuple(machines.values())),
            Grant(
                actions=BEGUN,
                resources=tuple(names.execution_arns(kind, f"{SLACK_EXECUTIONS}*") for kind in kinds),
                wildcard="The names of executions that are asked for in Slack begin so, and end with the request's id.",
            ),
            *judging(names, deployment),
            *(facts(names, write=("*/words/*",)) if deployment.with_changes else ()),
        ],
    )


def front_shape(names: Names, deployment: Deployment, secret: Grant, worker: lambda_.IFunction) -> FunctionShape:
    """The function that the public reaches: it may read its secret, keep what it has seen, and call the worker."""
    return FunctionShape(
        name=FRONT,
        memory_mib=_PROCESSOR_MIB,
        timeout_s=_FRONT_S,
        at_once=deployment.slack_at_once or None,
        environment={**_knowing(names), "PLIMSOLL_SLACK_WORKER": worker.function_name},
        grants=[secret, claims(names), Grant(actions=HANDING_OVER, resources=(worker.function_arn,))],
    )


def notifying_shapes(names: Names, deployment: Deployment, secret: Grant) -> list[FunctionShape]:
    """The functions that post audits and, if the service measures or changes, validations and news of changes."""
    report = FunctionShape(
        name=REPORT,
        memory_mib=deployment.report_memory_mib,
        timeout_s=_TELLING_S,
        tmp_mib=4096,
        retries=2,
        environment=_knowing(names),
        grants=[
            secret,
            claims(names),
            past_decisions(names),
            *store(names, read=("reports/", "work/", "measured/"), write=("slack/",)),
        ],
    )
    answer = FunctionShape(
        name=ANSWER,
        memory_mib=1024,
        timeout_s=300,
        retries=2,
        environment=_knowing(names),
        grants=[secret, idempotency(names), *store(names, read=("slack/", "validations/"))],
    )
    changes = FunctionShape(
        name=CHANGES,
        timeout_s=_TELLING_S,
        retries=2,
        environment={**_knowing(names), "PLIMSOLL_FACTS_BUCKET": names.facts},
        grants=[secret, claims(names), *facts(names), *store(names, write=("slack/",))],
    )
    deployed = ((report, True), (answer, deployment.with_validation), (changes, deployment.with_changes))
    return [shape for shape, is_deployed in deployed if is_deployed]


def _knowing(names: Names) -> dict[str, str]:
    return {"PLIMSOLL_SLACK_SECRET": names.slack_secret}
