"""Bench hosts: running VMs by label or id that may have Plimsoll's agent."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Final

from google.api_core.exceptions import NotFound
from google.cloud import compute_v1

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import CloudError, Unreachable
from plimsoll.model.policy import TagMatch
from plimsoll.ports import BenchHost, Target
from plimsoll_google.clients import Clients
from plimsoll_google.disks import host_instance as read_instance
from plimsoll_google.disks import tags_of
from plimsoll_google.errors import google_errors
from plimsoll_google.names import LIST_INSTANCES, last_of, region_of
from plimsoll_measure.bench.agent import agent_version

GOOGLE_MEASURING: Final = CallPurpose(
    goes_on="Nothing is measured there",
    allow="grant it to the caller there (`plimsoll permissions --cloud google --for validate` prints the role)",
    again="try again later",
)
GOOGLE_CLEANING: Final = CallPurpose(
    goes_on="The scratch disk may still be there",
    allow="grant it to the caller there (`plimsoll permissions --cloud google --for validate` prints the role)",
    again="run `plimsoll sweep --cloud google` later",
)


def measuring(what: str, place: str, permission: str) -> AbstractContextManager[None]:
    """Raises errors of Google's clients as CloudError, "cannot `what`"."""
    return google_errors(what, place, permission, GOOGLE_MEASURING)


def cleaning(what: str, place: str, permission: str) -> AbstractContextManager[None]:
    """The same as `measuring`, for calls that find, detach and delete scratch disks."""
    return google_errors(what, place, permission, GOOGLE_CLEANING)


FOLLOWED_S: Final = 30.0
"""The time for which an operation is followed; one that takes longer is waited for by whoever wants its result."""

_PAUSES_S: Final = (0.2, 0.4, 0.8, 1.6, 3.0)
_REMEDIES: Final[Mapping[str, str]] = {
    "QUOTA_EXCEEDED": "Ask for a higher quota in IAM & Admin, Quotas",
    "ZONE_RESOURCE_POOL_EXHAUSTED": "The zone has none left: try again later, or measure in another zone",
    "PERMISSIONS_ERROR": "Give the caller the role that `plimsoll permissions --cloud google --for validate` prints",
}
_OTHERWISE: Final = "Try again; if it stays so, see the operation in the activity log of the project"


def follow_operation(
    clients: Clients,
    operation: compute_v1.Operation,
    what: str,
    *,
    project: str,
    purpose: CallPurpose,
    sleep: Callable[[float], None],
) -> None:
    """Waits until a zone's operation is done, or for FOLLOWED_S. Raises CloudError, "cannot `what`", if it fails."""
    operations = clients.rest(compute_v1.ZoneOperationsClient)
    zone = operation.zone.rpartition("/")[2]
    waited_s, looks = 0.0, 0
    while operation.status != compute_v1.Operation.Status.DONE:
        if waited_s >= FOLLOWED_S:
            return
        pause_s = _PAUSES_S[min(looks, len(_PAUSES_S) - 1)]
        sleep(pause_s)
        waited_s, looks = waited_s + pause_s, looks + 1
        with google_errors(what, f"{project}/{zone}", "compute.zoneOperations.get", purpose):
            operation = operations.get(project=project, zone=zone, operation=operation.name, **clients.tries)
    for error in operation.error.errors:
        remedy = _REMEDIES.get(error.code, _OTHERWISE)
        raise CloudError(f"cannot {what}: {error.code}: {error.message.rstrip('.')}. {remedy}.")


READY_S: Final = 300.0
"""The greatest age of an agent's word; it gives one every minute."""

_OTHER: Final = "or name another with --bench-host"
_PAGE: Final = 500
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def find_hosts(
    clients: Clients, target: Target, tags: Sequence[TagMatch], ids: Sequence[str], now: datetime
) -> list[BenchHost]:
    """The running VMs with one of these labels, ids or names, by id. Raises CloudError for an id of no running VM."""
    hosts: dict[str, compute_v1.Instance] = {}
    for name in ids:
        host = find_instance(clients, target, name)
        if host is None:
            raise CloudError(f"cannot measure on {name}: there is no such instance in {target}. Name another.")
        if host.status != "RUNNING":
            raise CloudError(f"cannot measure on {name} in {target}: it is {host.status}. Start it, {_OTHER}.")
        hosts[str(host.id)] = host
    for tag in tags:
        listed = _list_instances(clients, target, f"labels.{_label_key(tag.tag)}:*")
        hosts |= {
            str(host.id): host
            for host in listed
            if host.status == "RUNNING" and tag.is_match(tags_of(host.labels, host.name))
        }
    return [_bench_host(clients, target, host, now) for _, host in sorted(hosts.items())]


def _label_key(tag: str) -> str:
    """A tag's key as a label's, which knows small letters, digits, - and _ alone."""
    return re.sub(r"[^a-z0-9_-]", "-", tag.lower())


def find_instance(clients: Clients, target: Target, name: str) -> compute_v1.Instance | None:
    """A VM of the target's region by its numeric id or its name. None if there is none."""
    if name.isdecimal():
        return next(
            (instance for instance in _list_instances(clients, target, f"id = {name}") if str(instance.id) == name),
            None,
        )
    if not _NAME.fullmatch(name):
        return None
    return next(
        (instance for instance in _list_instances(clients, target, f'name = "{name}"') if instance.name == name), None
    )


def get_instance(clients: Clients, target: Target, zone: str, name: str) -> compute_v1.Instance | None:
    """A VM by its zone and name. None if it is gone."""
    with measuring(f"look at {name} in {target.account}/{zone}", f"{target.account}/{zone}", "compute.instances.get"):
        try:
            return clients.instances.get(project=target.account, zone=zone, instance=name, **clients.tries)
        except NotFound:
            return None


def _list_instances(clients: Clients, target: Target, wanted: str) -> Iterator[compute_v1.Instance]:
    request = {"project": target.account, "filter": wanted, "max_results": _PAGE}
    with measuring(f"look for bench hosts in {target}", str(target), LIST_INSTANCES):
        for page in pages_of(target, clients.instances.aggregated_list(request=request, **clients.tries)):
            yield from page.instances


def pages_of(target: Target, listed: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """The pages of an aggregated list that are of the target's region.

    Raises Unreachable if a zone or region there did not answer, so that its content is not known.
    """
    for scope, page in listed:
        if region_of(scope) != target.region:
            continue
        if page.warning.code == "UNREACHABLE":
            where = f"{scope} of {target.account}"
            raise Unreachable(f"cannot see what is in {where}: it does not answer. Try again later.")
        yield page


def lent_types(clients: Clients, target: Target, host: compute_v1.Instance) -> tuple[str, ...]:
    """The pooled types of a VM's disks, scratch disks included. Raises CloudError.

    One more disk of such a type would share with them.
    """
    kinds = volume_types(GOOGLE)
    types = {_type_of(clients, target, attached) for attached in host.disks if attached.type_ == "PERSISTENT"}
    return tuple(sorted(name for name in types if name in kinds and kinds[name].pooled))


def _type_of(clients: Clients, target: Target, attached: compute_v1.AttachedDisk) -> str:
    """The type of a VM's disk; empty if it went away meanwhile."""
    parts = attached.source.partition("/projects/")[2] or attached.source.partition("projects/")[2]
    project, kind, place, _, name = parts.split("/")
    with measuring(f"look at the disks of a bench host in {target}", str(target), "compute.disks.get"):
        try:
            if kind == "regions":
                disk = clients.region_disks.get(project=project, region=place, disk=name, **clients.tries)
                return f"regional-{last_of(disk.type_)}"
            zonal = clients.disks.get(project=project, zone=place, disk=name, **clients.tries)
        except NotFound:
            return ""
    return last_of(zonal.type_)


def _bench_host(clients: Clients, target: Target, host: compute_v1.Instance, now: datetime) -> BenchHost:
    why_not = _why_not(host, target, guest_attributes(clients, target, host_zone(host), host.name), now)
    return BenchHost(
        host=read_instance(compute_v1.Instance.pb(host), place=str(target)).host,
        account=target.account,
        region=target.region,
        zone=host_zone(host),
        ready=not why_not,
        not_ready=why_not,
        shares=lent_types(clients, target, host),
    )


def _why_not(host: compute_v1.Instance, target: Target, attributes: Mapping[str, str], now: datetime) -> str:
    """The reason why a VM cannot measure, and what to do about it; empty if it can."""
    place = f"{host.name} ({host.id}) in {target.account}/{host_zone(host)}"
    install = (
        "`plimsoll bench-agent >agent.sh` and `gcloud compute instances add-metadata "
        f"{host.name} --project {target.account} --zone {host_zone(host)} --metadata enable-guest-attributes=TRUE "
        "--metadata-from-file startup-script=agent.sh`, and start it again"
    )
    version, _, time = attributes.get("ready", "").partition(" ")
    if not time.isdecimal():
        return f"{place} does not run Plimsoll's agent: give it the agent with {install}, {_OTHER}."
    if version != agent_version():
        return f"{place} runs the agent of another version of Plimsoll: give it this one with {install}, {_OTHER}."
    silent_s = now.timestamp() - int(time)
    if silent_s > READY_S:
        return (
            f"the agent on {place} was last heard {silent_s / 60:,.0f} minutes ago: start the VM again "
            f"(`gcloud compute instances reset {host.name} --project {target.account} --zone {host_zone(host)}`), "
            f"{_OTHER}."
        )
    return ""


def host_zone(host: compute_v1.Instance) -> str:
    """A VM's zone."""
    return last_of(host.zone)


AGENT_NAMESPACE: Final = "plimsoll"
_PERMISSION: Final = "compute.instances.getGuestAttributes"


def guest_attributes(clients: Clients, target: Target, zone: str, name: str) -> dict[str, str]:
    """All that the agent on a VM has written, by key; empty if it has written nothing yet."""
    place = f"{target.account}/{zone}"
    request = {"project": target.account, "zone": zone, "instance": name, "query_path": f"{AGENT_NAMESPACE}/"}
    with measuring(f"read what the agent on {name} in {place} says", place, _PERMISSION):
        try:
            answer = clients.instances.get_guest_attributes(request=request, **clients.tries)
        except NotFound:
            return {}
    return {item.key: item.value for item in answer.query_value.items if item.namespace == AGENT_NAMESPACE}
