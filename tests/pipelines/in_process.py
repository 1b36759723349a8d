"""An audit of a simulated organisation in this process, at a time of the test's choosing."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from plimsoll.bootstrap import Scope, aws_world
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.policy import Policy
from plimsoll.run import Order, carry_out
from plimsoll.settings import Settings
from plimsoll.simulator.running import Running


def audited(
    organisation: Running, folder: Path, now: datetime, policy: Policy | None = None, *, every_minute: bool = False
) -> dict[str, Any]:
    """Audits by the ordinary path over HTTP into a folder, and gives run.json's content."""
    with patch.dict(os.environ, organisation.environment):
        scope = Scope(role_arns=organisation.role_arns, regions=organisation.fleet.regions)
        world = aws_world(scope, Settings(), today=now.date(), ledger=Ledger(path=folder / "ledger.json"), paced=False)
        order = Order(
            folder=folder,
            scope={},
            policy=policy or Policy(),
            now=now,
            every_minute=every_minute,
        )
        return carry_out(order, [world], lambda _progress, _outcome: None)[0]
