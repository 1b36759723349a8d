"""The service as its functions run it: over AWS's own services, as their environment says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import boto3

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.aws.consoles import object_link
from plimsoll.clouds.aws.errors import AUDITING, KEEPING, translate_errors
from plimsoll.clouds.aws.names import CHANGES_GO
from plimsoll.clouds.aws.service import BusEvents, DynamoClaims, StepExecutions
from plimsoll.clouds.aws.stores import DynamoHistory, S3Facts, S3Store
from plimsoll.clouds.registry import AWS, cloud_of_account
from plimsoll.model.errors import BadInput
from plimsoll.settings import PREFIX, Settings
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import Service, ServicePlaces

if TYPE_CHECKING:
    from datetime import datetime

    from plimsoll.auditing.ports import AuditPorts
    from plimsoll.clouds.ledger import Ledger
    from plimsoll.model.envelope import Envelope
    from plimsoll.model.policy import Policy
    from plimsoll.ports import Bench, FailedTarget, Target
    from plimsoll.reports.record import RecommendationRecord
    from plimsoll_change.ports import ChangeTools, VolumeTagger


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesByCloud:
    """The places of each cloud, by the name that targets give it."""

    clouds: Mapping[str, ServicePlaces]

    def accounts(self) -> Sequence[str | FailedTarget]:
        """Every account of every cloud, cloud by cloud."""
        return [account for places in self.clouds.values() for account in places.accounts()]

    def targets(self, account: str) -> Sequence[Target | FailedTarget]:
        """The account in each of its regions. Raises BadInput for a cloud that is not audited from here."""
        return self._places_of(cloud_of_account(account).name, account).targets(account)

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger, sharing: int = 1) -> AuditPorts:
        """The ports of that target alone. Raises BadInput for a cloud that is not audited from here."""
        places = self._places_of(target.provider, target)
        return places.ports(target, now=now, measured=measured, ledger=ledger, sharing=sharing)

    def bench(self, target: Target) -> Bench:
        """The bench of the target's volumes. Raises BadInput if there is none."""
        return self._places_of(target.provider, target).bench(target)

    def prober(self, target: Target) -> Bench:
        """The reader of the target's hosts. Raises BadInput if there is none."""
        return self._places_of(target.provider, target).prober(target)

    def tagger(self, target: Target) -> VolumeTagger:
        """The target's volumes, to plan changes of. Raises BadInput if there are none."""
        return self._places_of(target.provider, target).tagger(target)

    def change_tools(self, accounts: Collection[str]) -> ChangeTools:
        """The volumes of these accounts of AWS: nothing else is changed from here."""
        return self._places_of(AWS, ", ".join(sorted(accounts))).change_tools(accounts)

    def _places_of(self, cloud: str, place: Target | str) -> ServicePlaces:
        try:
            return self.clouds[cloud]
        except KeyError as error:
            raise BadInput(
                f"{place} is of the cloud {cloud!r}, which is not in the scope of this service: see its configuration."
            ) from error


PlacesMaker = Callable[[ServiceConfig, Settings], Mapping[str, ServicePlaces]]
"""Makes the places of clouds, by the names that their targets give them."""


def no_places(_config: ServiceConfig, _settings: Settings) -> Mapping[str, ServicePlaces]:
    """No places: for functions that ask no cloud about volumes, and so import no code that could."""
    return {}


def service_of_environment(config: ServiceConfig, places: PlacesMaker = no_places) -> Service:
    """The service of a configuration in places. Raises BadInput for a missing environment variable."""
    settings, facts = Settings.from_environment(), os.environ.get(f"{PREFIX}FACTS_BUCKET")
    return Service(
        config=config,
        settings=settings,
        places=PlacesByCloud(clouds=places(config, settings)),
        store=S3Store(bucket=_variable("BUCKET"), client=_client("s3")),
        root=f"s3://{_variable('BUCKET')}",
        measured=_measured_folder(),
        claims=DynamoClaims(table=_variable("COORDINATION_TABLE"), client=_client("dynamodb")),
        history=DynamoHistory(table=_variable("HISTORY_TABLE"), client=_client("dynamodb")),
        events=BusEvents(bus=_variable("EVENT_BUS"), client=_client("events")),
        executions=StepExecutions(client=_client("stepfunctions"), machines=_machines()),
        clock=clock(),
        envelopes=measured_envelopes,
        console_link=service_console_link,
        file_link=_file_link,
        facts=S3Facts(bucket=facts, client=_client("s3")) if facts else None,
        is_killed=_is_killed,
    )


def measured_envelopes(measured: Path) -> Mapping[str, Envelope]:
    """Every measured envelope by name: those that ship, and those of that folder."""
    from plimsoll.bootstrap.envelopes import envelope_library  # noqa: PLC0415  # for those functions alone that ask

    return envelope_library(measured).envelopes


def service_console_link(volume: RecommendationRecord, policy: Policy, now: datetime) -> str:
    """A link to a volume's demand by a policy, as of a time, in its cloud's own console."""
    from plimsoll.bootstrap.consoles import console_link  # noqa: PLC0415  # as above

    return console_link(volume, policy, now)


def _file_link(key: str) -> str | None:
    _, partition = caller()
    return object_link(_client("s3").meta.region_name, _variable("BUCKET"), key, partition=partition)


def _is_killed() -> bool:
    """True unless the parameter of the switch says `go` at this moment. Only functions that change volumes have one."""
    with translate_errors("read the switch for changes", "ssm:GetParameter", KEEPING):
        answer = _client("ssm").get_parameter(Name=_variable("CHANGE_SWITCH"))
    return str(answer["Parameter"]["Value"]).strip() != CHANGES_GO


def forget_process() -> None:
    """Forgets everything kept for the process, for another environment."""
    _client.cache_clear()
    caller.cache_clear()
    _measured_folder.cache_clear()


@cache
def _client(service: str) -> Any:
    return boto3.client(service)  # type: ignore[call-overload]  # the service's name is not a literal


@cache
def caller() -> tuple[str, str]:
    """The account that the service runs in, and its partition."""
    with translate_errors("find out which account this is", "sts:GetCallerIdentity", AUDITING):
        identity = _client("sts").get_caller_identity()
    return identity["Account"], identity["Arn"].split(":")[1]


@cache
def _measured_folder() -> Path:
    """A folder that lasts as long as the process, so that what was measured is brought once."""
    return Path(mkdtemp(prefix="plimsoll-measured-"))


def _machines() -> Mapping[str, str]:
    """The state machines that can be begun from here, by kind; only functions that begin one have them."""
    kinds = ("audit", "validation", "probe")
    return {kind: os.environ.get(f"{PREFIX}{kind.upper()}_MACHINE", "") for kind in kinds}


def _variable(name: str) -> str:
    try:
        return os.environ[PREFIX + name]
    except KeyError as error:
        raise BadInput(f"the environment lacks {PREFIX}{name}: deploy the service again.") from error
