"""A simulated account, audited by the ordinary path, and what that asked."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from figures import CACHE

from cloud_simulator.running import Running
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import BY_MINUTES_S
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.decide.answer import Recommendation
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered
from plimsoll.ports import Usage
from plimsoll.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Audited:
    """An audit's recommendations by volume, and what was asked for them."""

    recommendations: Mapping[str, Recommendation]
    usage: Usage


def audited(
    cloud: Running, *, policy: Policy | None = None, every_minute: bool = False, by_minutes_s: float = BY_MINUTES_S
) -> Audited:
    """One audit of all the simulator has; with no time to read by the minute, sparingly throughout."""
    scope = Scope(role_arns=cloud.role_arns, regions=cloud.fleet.regions)
    ledger = Ledger(path=CACHE / "ledger.json")
    with _pointed_at(cloud):
        (ports,) = ports_of(scope, Settings(), today=datetime.now(UTC).date(), ledger=ledger, paced=False)
        ports = replace(ports, every_minute=every_minute, by_minutes_s=by_minutes_s)
        outcomes = list(run_audit(ports, policy or Policy(), cloud.fleet.now))
    answers = [one.recommendation for one in outcomes if isinstance(one, Answered)]
    return Audited(recommendations={answer.volume.id: answer for answer in answers}, usage=ports.metrics.usage)


@contextmanager
def _pointed_at(cloud: Running) -> Iterator[None]:
    """The environment in which every AWS tool asks the simulator."""
    before = dict(os.environ)
    os.environ.update(cloud.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
