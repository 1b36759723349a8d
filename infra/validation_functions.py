"""The validation's functions: how big each is, and what it may do."""

from typing import Final

from infra.constructs.service_function import FunctionShape
from infra.function_grants import claims, enter, judging, look, once, scope_reading, store, tell
from infra.grants import Grant
from infra.measuring import Measuring
from infra.names import Names
from infra.settings import Deployment

SWEEP: Final = "sweep"
"""The function that no state calls: a schedule does."""

VALIDATION_ENTERS: Final = (
    "choose",
    "propose",
    "create_scratch",
    "look",
    "attach_scratch",
    "send_command",
    "clean_up",
    "conclude",
    SWEEP,
)
"""The functions that go into member accounts to measure: all of them."""

VALIDATION_AUDITS: Final = ("choose", "propose", "clean_up", "conclude", SWEEP)
"""Those that also use the audit's role there: to find volumes, to judge them, and to find what to clean up."""

_JOBS: Final = "validations/"
_CALLER: Final = frozenset({"sts:GetCallerIdentity"})


def validation_shapes(names: Names, deployment: Deployment) -> list[FunctionShape]:
    """The eight functions of the validation's states, and the sweep."""
    bench = Measuring(stack=names.stack, deployment=deployment)
    entering = [look(_CALLER, "name the caller"), *enter(names, deployment, deployment.validation_role_name)]
    member = enter(names, deployment, deployment.role_name)
    working = [*store(names, write=(_JOBS,)), *entering]
    deciding = [*_deciding(names, deployment), *entering, bench.looks]
    # In place the host is asked first how its volumes are put together, by a command that only reads.
    proposing = [*deciding, claims(names), *bench.commands, bench.cancels]
    # Where the document of a job is lost, every target is asked for what it left.
    everywhere = [*scope_reading(deployment), *member]
    return [
        FunctionShape(name="choose", memory_mib=1024, timeout_s=600, grants=deciding),
        FunctionShape(name="propose", memory_mib=1024, timeout_s=600, grants=proposing),
        FunctionShape(name="create_scratch", grants=[*working, bench.looks, *bench.creates]),
        FunctionShape(name="look", grants=[*working, bench.looks]),
        FunctionShape(name="attach_scratch", grants=[*working, bench.looks, *bench.attaches]),
        FunctionShape(name="send_command", grants=[*working, bench.looks, *bench.commands, once(names)]),
        FunctionShape(
            name="clean_up",
            timeout_s=900,
            grants=[*working, *everywhere, bench.looks, *bench.takes_away, bench.cancels, claims(names)],
        ),
        FunctionShape(
            name="conclude",
            memory_mib=1024,
            timeout_s=600,
            grants=[*deciding, claims(names), tell(names), *store(names, write=("measured/",))],
        ),
        FunctionShape(name=SWEEP, timeout_s=900, grants=[*everywhere, *entering, *bench.sweeps]),
    ]


def _deciding(names: Names, deployment: Deployment) -> list[Grant]:
    """Decides on one volume as an audit does, by the audit's role, with all measurements so far."""
    return [
        *store(names, read=("measured/", "ledger/", "reports/"), write=(_JOBS,)),
        *judging(names, deployment),
    ]
