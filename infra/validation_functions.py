"""The validation's functions: how big each is, and what it may do."""

from typing import Final

from infra.constructs.service_function import FunctionShape
from infra.function_grants import (
    account_listing,
    claims,
    enter,
    idempotency,
    judging,
    look,
    region_listing,
    store,
    tell,
)
from infra.grants import Grant
from infra.names import Names
from infra.settings import Deployment
from infra.validation_permissions import Measuring

SWEEP: Final = "sweep"
"""The function that sweeps an account."""

SWEEPING: Final = ("plan_sweep", SWEEP, "conclude_sweep")
"""The functions of the sweep's states; the others are the validation's."""

VALIDATION_ENTERS: Final = (
    "choose_volumes",
    "propose",
    "create_scratch",
    "check_job",
    "attach_scratch",
    "send_command",
    "clean_up",
    "conclude",
    SWEEP,
)
"""The functions that go into member accounts to measure: all of them."""

VALIDATION_AUDITS: Final = ("choose_volumes", "propose", "conclude", SWEEP)
"""Those that also use the audit's role there: to find volumes, to judge them, and to find the regions of an account."""

_JOBS: Final = "validations/"
_LEDGER: Final = "scratch/"
_SWEEPS: Final = "sweeps/"
_CALLER: Final = frozenset({"sts:GetCallerIdentity"})


def validation_shapes(names: Names, deployment: Deployment) -> list[FunctionShape]:
    """The eight functions of the validation's states, and the three of the sweep's."""
    bench = Measuring(stack=names.stack, deployment=deployment)
    entering = [look(_CALLER, "name the caller"), *enter(names, deployment, deployment.validation_role_name)]
    member = enter(names, deployment, deployment.role_name)
    working = [*store(names, write=(_JOBS,)), *entering]
    deciding = [*_deciding(names, deployment), *entering, bench.looks]
    # In place the host is asked first how its volumes are put together, by a command that only reads.
    proposing = [*deciding, claims(names), *bench.commands, bench.cancels]
    return [
        FunctionShape(name="choose_volumes", memory_mib=1024, timeout_s=600, grants=deciding),
        FunctionShape(name="propose", memory_mib=1024, timeout_s=600, grants=proposing),
        FunctionShape(
            name="create_scratch",
            grants=[*store(names, write=(_JOBS, _LEDGER)), *entering, bench.looks, *bench.creates],
        ),
        FunctionShape(name="check_job", grants=[*working, bench.looks]),
        FunctionShape(name="attach_scratch", grants=[*working, bench.looks, *bench.attaches]),
        FunctionShape(name="send_command", grants=[*working, bench.looks, *bench.commands, idempotency(names)]),
        # Where the document of a job is lost, every target of the ledger is asked for what it left.
        FunctionShape(
            name="clean_up",
            timeout_s=900,
            grants=[
                *store(names, read=(_LEDGER,), write=(_JOBS,)),
                *entering,
                bench.looks,
                *bench.takes_away,
                bench.cancels,
                claims(names),
            ],
        ),
        FunctionShape(
            name="conclude",
            memory_mib=1024,
            timeout_s=600,
            grants=[*deciding, claims(names), tell(names), *store(names, write=("measured/",))],
        ),
        FunctionShape(
            name="plan_sweep",
            timeout_s=300,
            grants=[*store(names, read=(_LEDGER,), write=(_SWEEPS,)), *account_listing(deployment)],
        ),
        FunctionShape(
            name=SWEEP,
            timeout_s=900,
            grants=[
                *store(names, write=(_LEDGER, _SWEEPS)),
                region_listing(),
                *member,
                *entering,
                *bench.sweeps,
            ],
        ),
        FunctionShape(name="conclude_sweep", grants=store(names, read=(_LEDGER, _SWEEPS))),
    ]


def _deciding(names: Names, deployment: Deployment) -> list[Grant]:
    """Decides on one volume as an audit does, by the audit's role, with all measurements so far."""
    return [
        *store(names, read=("measured/", "ledger/", "reports/"), write=(_JOBS,)),
        *judging(names, deployment),
    ]
