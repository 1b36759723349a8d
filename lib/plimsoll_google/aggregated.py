"""Aggregated lists: the disks and the instances of a project, those of all its zones and regions at once.

Google names every scope of such a list, with `NO_RESULTS_ON_PAGE` where it has nothing there (`includeAllScopes` of
`disks.aggregatedList`, compute v1, read 2026-11-22). So an answer without any scope is none, and a scope that has
neither entries nor that warning did not answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.cloud import compute_v1

from plimsoll.clouds.common.answers import Deadline, bad_answer
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll_google.clients import Clients
from plimsoll_google.errors import GOOGLE_AUDITING
from plimsoll_google.names import LIST_DISKS, LIST_INSTANCES, region_of
from plimsoll_google.pages import PagedList

LIST_PAGE_SIZE: Final = 500
"""The most that a page brings (compute_v1 1.57, `max_results`, read 2026-11-22)."""

_EMPTY: Final = "NO_RESULTS_ON_PAGE"
_SILENT: Final = "UNREACHABLE"
_PARTIAL: Final = "return_partial_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregatedPage:
    """The entries of a page, each with its scope (zones/..., regions/...).

    `scopes` are all that it names, `unreachable` those that Google says did not answer, and `blank` those of which it
    says nothing at all.
    """

    found: tuple[tuple[str, Any], ...]
    scopes: frozenset[str]
    unreachable: frozenset[str]
    blank: frozenset[str]


def disk_pages(
    clients: Clients,
    project: str,
    place: str,
    deadline: Deadline | None = None,
    *,
    wanted: str = "",
    purpose: CallPurpose = GOOGLE_AUDITING,
) -> Iterator[AggregatedPage]:
    """The disks of a project in its zones and regions, or those that a filter names.

    Raises CloudError that names the place.
    """
    listed = _open_list(clients, place, LIST_DISKS, deadline, purpose)
    request = _request(compute_v1.AggregatedListDisksRequest, project, wanted)
    for page in listed.pages(clients.disks.aggregated_list, request):
        yield _page(compute_v1.DiskAggregatedList.pb(page), "disks")


def instance_pages(
    clients: Clients,
    project: str,
    place: str,
    deadline: Deadline | None = None,
    *,
    wanted: str = "",
    purpose: CallPurpose = GOOGLE_AUDITING,
) -> Iterator[AggregatedPage]:
    """The instances of a project, or those that a filter names. Raises CloudError that names the place."""
    listed = _open_list(clients, place, LIST_INSTANCES, deadline, purpose)
    request = _request(compute_v1.AggregatedListInstancesRequest, project, wanted)
    for page in listed.pages(clients.instances.aggregated_list, request):
        yield _page(compute_v1.InstanceAggregatedList.pb(page), "instances")


def _open_list(
    clients: Clients, place: str, permission: str, deadline: Deadline | None, purpose: CallPurpose
) -> PagedList:
    def check(page: Any) -> None:
        if not page.items:
            raise bad_answer("items is missing", type(page).to_dict(page), call=permission, place=place)

    def size(page: Any) -> int:
        return sum(len(getattr(scoped, _entries(scoped))) for scoped in page.items.values())

    return PagedList(
        clients=clients,
        what=f"read {place}",
        place=place,
        permission=permission,
        deadline=deadline or clients.list_deadline(),
        purpose=purpose,
        check=check,
        size=size,
        doubtful=lambda size: size >= LIST_PAGE_SIZE,
    )


def _entries(scoped: Any) -> str:
    """The field of a scope's list that has its entries."""
    return "disks" if isinstance(scoped, compute_v1.DisksScopedList) else "instances"


def _request(kind: Any, project: str, wanted: str) -> Any:
    """A request for the scopes that answer, even if a zone does not.

    Some versions of the client cannot ask for that. Then such a zone fails the whole list, or Google grants it unasked.
    """
    partial = {_PARTIAL: True} if _PARTIAL in kind.meta.fields else {}
    named = {"filter": wanted} if wanted else {}
    return kind(project=project, max_results=LIST_PAGE_SIZE, **partial, **named)


def _page(page: Any, kind: str) -> AggregatedPage:
    # A protobuf map has another order in every process: the same answer must make the same run.
    scopes = sorted(page.items.items(), key=lambda item: item[0])
    silent = {scope for scope, listed in scopes if listed.warning.code == _SILENT}
    blank = {
        scope
        for scope, listed in scopes
        if not getattr(listed, kind) and listed.warning.code != _EMPTY and region_of(scope) is not None
    }
    return AggregatedPage(
        found=tuple((scope, entry) for scope, listed in scopes for entry in getattr(listed, kind)),
        scopes=frozenset(scope for scope, _ in scopes),
        unreachable=frozenset({*map(scope_of, page.unreachables), *silent}),
        blank=frozenset(blank - silent),
    )


def scope_of(url: str) -> str:
    """A scope as the list names it (zones/us-central1-a), of its URL or of itself."""
    return "/".join(url.rsplit("/", 2)[-2:])
