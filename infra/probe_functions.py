"""The probe's functions: how big each is, and what it may do."""

from typing import Final

from infra.constructs.service_function import FunctionShape
from infra.function_grants import enter, judging, look, store
from infra.names import Names
from infra.probe_permissions import Probing
from infra.settings import Deployment

PROBE_ENTERS: Final = ("begin_probe", "look_at_probe")
"""The functions that go into member accounts to probe: both."""

PROBE_AUDITS: Final = ("begin_probe",)
"""The one that also uses the audit's role there: to find volumes and their hosts."""

_PROBES: Final = "probes/"


def probe_shapes(names: Names, deployment: Deployment) -> list[FunctionShape]:
    """The two functions of the probe's states."""
    probing = Probing(stack=names.stack)
    caller = look(frozenset({"sts:GetCallerIdentity"}), "name the caller")
    entering = [caller, *enter(names, deployment, deployment.probe_role_name)]
    finding = [*store(names, read=("measured/", "ledger/"), write=(_PROBES,)), *judging(names, deployment)]
    return [
        FunctionShape(name="begin_probe", memory_mib=1024, timeout_s=600, grants=[*finding, *entering, *probing.sends]),
        FunctionShape(
            name="look_at_probe",
            timeout_s=300,
            grants=[*store(names, write=(_PROBES,)), *entering, probing.reading_grant],
        ),
    ]
