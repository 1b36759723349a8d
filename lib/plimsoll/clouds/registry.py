"""The clouds that Plimsoll knows: one row each.

A row is text alone: what a cloud is called, how it names things and what its reports say. The modules of the cloud's
package are imported when they are first asked for (`plimsoll.clouds.cloud`), so that Google's libraries load only where
Google is asked.
A new cloud is a package with `catalog.py`, `connection.py` and `data/types.yaml`, and one row here. It stands anywhere:
nothing imports it but by its row.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.aws.names import ACCOUNT_ID
from plimsoll.clouds.aws.names import REGION_NAME as AWS_REGION
from plimsoll.clouds.aws.names import VOLUME_ID as EBS_VOLUME_ID

AWS: Final = "aws"
GOOGLE: Final = "google"
"""The names of clouds in options, records, recordings, evidence and targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudWords:
    """The words for a cloud's things, for reports.

    - `cloud`, `account` and `monitoring` are names; `account_option` is the option that names accounts.
    - `shown` says what a console link opens, and `call` reads metrics.
    - `quotas` and `price` are the settings that reading is reckoned by.
    - `way_back` says how a change is undone.
    - `account_command` prints the account that a shell's credentials are of, and `credentials` sets them before a
      command; both are empty where neither is known.
    - `block_storage` is the service that its volumes belong to.
    """

    cloud: str
    account: str
    account_option: str
    monitoring: str
    shown: str
    call: str
    quotas: str
    price: str
    way_back: str
    account_command: str = ""
    credentials: str = ""
    block_storage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """One cloud. `account_id`, `region_name` and `volume_id` are patterns for a whole name, without ^ and $.

    `quota_by_region`: whether an account has a quota of metric calls in each region, or one in all.
    `bench`: the module of its bench, if a wing beside its package has it.
    `measured_by_service`: whether the deployed service has benches there.
    """

    name: str
    package: str
    account_id: str
    region_name: str
    volume_id: str
    words: CloudWords
    earlier_names: tuple[str, ...] = ()
    quota_by_region: bool = True
    measured_by_service: bool = True
    bench: str = ""


CLOUDS: Final[dict[str, Cloud]] = {
    AWS: Cloud(
        name=AWS,
        package="plimsoll.clouds.aws",
        account_id=ACCOUNT_ID,
        region_name=AWS_REGION,
        volume_id=EBS_VOLUME_ID,
        bench="plimsoll_measure.aws.bench",
        words=CloudWords(
            cloud="AWS",
            account="account",
            account_option="--profile",
            monitoring="CloudWatch",
            shown="opens a graph of its IOPS and MiB/s",
            call="GetMetricData",
            quotas="PLIMSOLL_CALLS_PER_S and _DATAPOINTS_PER_S",
            price="PLIMSOLL_USD_PER_1000_METRICS",
            way_back="AWS allows four modifications per volume in 24 hours, one at a time. No downtime.",
            account_command="aws sts get-caller-identity --query Account --output text",
            credentials="AWS_PROFILE={profile}",
            block_storage="Amazon Elastic Block Store",
        ),
    ),
    GOOGLE: Cloud(
        name=GOOGLE,
        package="plimsoll_google",
        # A project's id, perhaps under a domain (Resource Manager v3, `Project.project_id`, read 2026-11-22), a region
        # such as us-central1 or northamerica-northeast1, and a disk's number of 64 bits (Compute Engine v1, `Disk.id`).
        account_id=r"([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]",
        region_name=r"[a-z]{2,12}-[a-z]{2,12}[0-9]{1,2}",
        volume_id=r"[0-9]{1,20}",
        earlier_names=("gcp",),
        quota_by_region=False,
        measured_by_service=False,
        words=CloudWords(
            cloud="Google Cloud",
            account="project",
            account_option="--project",
            monitoring="Cloud Monitoring",
            shown="opens Metrics Explorer with the peaks per second of every disk on its hosts",
            call="ListTimeSeries",
            quotas="PLIMSOLL_GOOGLE_CALLS_PER_S and what one process takes in",
            price="PLIMSOLL_GOOGLE_USD_PER_1000_SERIES",
            way_back="IOPS and throughput of a Hyperdisk change without downtime. A type changes back the way it "
            "came: by a snapshot of the disk as it is then, so that no later write is lost.",
            account_command="gcloud projects describe {account} --format='value(projectId)'",
            block_storage="Compute Engine",
        ),
    ),
}


def cloud_named(name: str) -> Cloud | None:
    """The cloud of that name or that earlier name; None for an unknown name."""
    return CLOUDS.get(name) or next((one for one in CLOUDS.values() if name in one.earlier_names), None)


def cloud_of_account(account: str) -> Cloud:
    """The cloud that names accounts so; the first where none does. No text is the id of an account in two clouds."""
    return _first_match("account_id", account, CLOUDS)


def cloud_of_region(region: str, clouds: Iterable[str]) -> Cloud:
    """The one of these clouds that names regions so; the first in the registry's order where none does."""
    asked = set(clouds)
    return _first_match("region_name", region, {name: one for name, one in CLOUDS.items() if name in asked})


def account_pattern() -> str:
    """The pattern of an account's id in any cloud, from its first character to its last."""
    return _any_of(one.account_id for one in CLOUDS.values())


def region_pattern() -> str:
    """The pattern of a region's name in any cloud."""
    return _any_of(one.region_name for one in CLOUDS.values())


def volume_pattern() -> str:
    """The pattern of a volume in any cloud: its id, or account/region/id, which need not be searched for."""
    return _any_of(f"({one.account_id}/{one.region_name}/)?{one.volume_id}" for one in CLOUDS.values())


def _first_match(pattern: str, name: str, clouds: Mapping[str, Cloud]) -> Cloud:
    rows = list(clouds.values())
    return next((one for one in rows if re.fullmatch(getattr(one, pattern), name)), rows[0])


def _any_of(patterns: Iterable[str]) -> str:
    return "|".join(f"(^{pattern}$)" for pattern in patterns)
