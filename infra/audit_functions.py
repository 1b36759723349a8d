"""The audit's functions: how big each is, and what it may do."""

from collections.abc import Sequence
from typing import Final

from infra.constructs.service_function import FunctionShape
from infra.function_grants import account_listing, enter, history, idempotency, look, store, tell
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from plimsoll.clouds.aws.permissions import EXECUTIONS, auditing

_WORK: Final = "work/"
_TABLES: Final = "runs/"

AUDIT_ENTERS: Final = ("take_inventory", "audit_batch")
"""The functions that go into member accounts."""

AUDIT_ASKS_GOOGLE: Final = ("plan", *AUDIT_ENTERS)
"""The functions that ask Google: the plan finds the projects of folders and organizations."""

METRIC_READING: Final = frozenset({"cloudwatch:GetMetricData"})
"""The permissions of an audit that read the demand."""

_CALLER: Final = frozenset({"sts:GetCallerIdentity"})

_PLANNING_MIB: Final = {False: 512, True: 1024}
"""MiB of memory of the plan, without and with Google's libraries, which take 200 MiB. Accounts add nothing to it."""

CANARY: Final = "canary"
"""The function that no state calls: a schedule does."""

_READING: Final = ("calls_per_s", "datapoints_per_s", "google_calls_per_s", "usd_hour_waited")
"""The settings by which metrics are read: quotas, which those who read the same place divide, and an hour's worth."""


_EXPECTING: Final = ("denied_places_expected",)
"""The settings that say what an inventory may lack."""


def audit_shapes(names: Names, deployment: Deployment) -> list[FunctionShape]:
    """The eight functions of the audit, and its canary."""
    member = enter(names, deployment, deployment.role_name)
    within = [
        look(auditing(deployment.parsed_policy) - METRIC_READING, "list regions, volumes and prices"),
        *member,
    ]
    large = {"memory_mib": deployment.audit_memory_mib, "timeout_s": deployment.audit_timeout_s}
    return [
        FunctionShape(
            name="plan",
            memory_mib=_PLANNING_MIB[deployment.audits_google],
            timeout_s=deployment.audit_timeout_s,
            grants=[
                *store(names, write=(_WORK,)),
                *account_listing(deployment),
                Grant(actions=EXECUTIONS, resources=(names.machine_arn("audit"),)),
            ],
        ),
        FunctionShape(
            name="take_inventory",
            memory_mib=1024,
            timeout_s=deployment.audit_timeout_s,
            environment=_settings(deployment, _EXPECTING),
            grants=[*store(names, read=("measured/",), write=(_WORK, "ledger/")), *within],
        ),
        FunctionShape(
            name="find_pending",
            memory_mib=1024,
            timeout_s=deployment.audit_timeout_s,
            grants=store(names, write=(_WORK, _TABLES)),
        ),
        FunctionShape(
            name="audit_batch",
            tmp_mib=1024,
            environment=_settings(deployment, _READING),
            grants=[
                *store(names, read=("measured/", "ledger/"), write=(_WORK,)),
                history(names),
                look(METRIC_READING | _CALLER, "read metrics"),
                *member,
            ],
            **large,
        ),
        FunctionShape(name="note_failure", grants=store(names, write=(_WORK,))),
        FunctionShape(
            name="combine",
            memory_mib=deployment.report_memory_mib,
            timeout_s=deployment.audit_timeout_s,
            tmp_mib=4096,
            grants=store(names, write=(_WORK, _TABLES)),
        ),
        FunctionShape(
            name="summarize",
            memory_mib=1024,
            timeout_s=deployment.audit_timeout_s,
            grants=store(names, write=(_WORK, "measured/learned-here.json")),
        ),
        FunctionShape(
            name="report",
            memory_mib=deployment.report_memory_mib,
            timeout_s=deployment.audit_timeout_s,
            grants=[
                *store(names, read=("measured/",), write=(_WORK, "reports/")),
                idempotency(names),
                tell(names),
            ],
        ),
        FunctionShape(name=CANARY, grants=store(names, read=("reports/",))),
    ]


def _settings(deployment: Deployment, settings: Sequence[str]) -> dict[str, str]:
    """Settings of a deployment as a function's environment has them."""
    return {f"PLIMSOLL_{name.upper()}": str(getattr(deployment, name)) for name in settings}
