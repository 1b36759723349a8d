"""The functions of changes: how big each is, and what it may do."""

from typing import Final

from infra.change_permissions import Changing
from infra.constructs.service_function import FunctionShape
from infra.function_grants import claims, enter, facts, store, switch, tell
from infra.names import Names
from infra.settings import Deployment

CHANGE_PLANS: Final = ("plan_changes",)
"""The function that goes into member accounts to plan: it tags volumes, and changes none."""

CHANGE_ENTERS: Final = ("apply_changes",)
"""The function that goes into member accounts to change volumes."""

_CHANGES: Final = "changes/"
_LONGEST_S: Final = 900


def change_shapes(names: Names, deployment: Deployment) -> list[FunctionShape]:
    """The three functions of the states of changes."""
    changing = Changing(stack=names.stack)
    where = {"PLIMSOLL_FACTS_BUCKET": names.facts}
    return [
        FunctionShape(
            name="plan_changes",
            memory_mib=deployment.report_memory_mib,
            timeout_s=_LONGEST_S,
            tmp_mib=4096,
            environment=where,
            grants=[
                *store(names, read=("reports/", "work/"), write=(_CHANGES,)),
                *facts(names, write=("*/plan.json",)),
                *enter(names, deployment, deployment.change_plan_role_name),
                *changing.plans,
            ],
        ),
        FunctionShape(
            name="find_changes",
            environment=where,
            grants=[*store(names, read=(_CHANGES,)), *facts(names)],
        ),
        FunctionShape(
            name="apply_changes",
            memory_mib=2048,
            timeout_s=_LONGEST_S,
            environment={**where, "PLIMSOLL_CHANGE_SWITCH": names.change_switch},
            grants=[
                *store(names, write=(_CHANGES,)),
                *facts(names, write=("*/ledger/*",)),
                claims(names),
                tell(names),
                switch(names),
                *enter(names, deployment, deployment.change_role_name),
                *changing.changes,
            ],
        ),
    ]
