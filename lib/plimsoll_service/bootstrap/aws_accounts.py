"""The ports of an AWS account in the service, and its regions."""

from datetime import date
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clouds import connected_ports
from plimsoll.clouds.aws.connection import connection_of
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.ports import FailedTarget, Target
from plimsoll.settings import Settings
from plimsoll_service.config import ServiceConfig


def account_targets(entered: Sessions, config: ServiceConfig, settings: Settings) -> list[Target | FailedTarget]:
    """An open account in each of its regions, or why it cannot be entered."""
    regions, deadline_s = config.regions or None, settings.list_deadline_s
    return list(AwsInventory(sessions=entered, regions=regions, list_deadline_s=deadline_s).targets())


def account_ports(
    entered: Sessions,
    target: Target,
    config: ServiceConfig,
    settings: Settings,
    *,
    today: date,
    measured: Path,
    ledger: Ledger,
    paced: bool,
    sharing: int,
) -> AuditPorts:
    """The ports of a target in an open account, with the measurements in a folder."""
    connection = connection_of(
        entered,
        Reach(
            scope=Scope(regions=(target.region,)),
            settings=settings,
            today=today,
            paced=paced,
            log_days=config.parsed_policy.log_days,
            every_region=not config.regions,
            sharing=sharing,
        ),
    )
    here = settings.model_copy(update={"runs_dir": measured, "campaigns_dir": measured})
    return connected_ports(AWS, connection, here, ledger)
