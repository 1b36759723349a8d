"""Aggregated lists: all of one kind in a project, over every zone and region, page by page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.cloud import compute_v1

from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.errors import translated
from plimsoll.clouds.google.names import LIST_DISKS, LIST_INSTANCES

PAGE: Final = 500
"""The most that a page brings (compute_v1 1.57, `max_results`, read 2026-11-22)."""

_SILENT: Final = "UNREACHABLE"
_PARTIAL: Final = "return_partial_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page has, each with its scope (zones/..., regions/...), and the scopes that did not answer."""

    found: tuple[tuple[str, Any], ...]
    unreachable: frozenset[str]


def disk_pages(clients: Clients, project: str, place: str) -> Iterator[Page]:
    """The disks of a project, those of zones and of regions; raises CloudError that names the place."""
    with translated(place, LIST_DISKS):
        request = compute_v1.AggregatedListDisksRequest(_asked(compute_v1.AggregatedListDisksRequest, project))
        pages = clients.disks.aggregated_list(request=request, retry=clients.retry, timeout=CALL_S).pages
        for page in pages:
            yield _page(compute_v1.DiskAggregatedList.pb(page), "disks")


def instance_pages(clients: Clients, project: str, place: str) -> Iterator[Page]:
    """The instances of a project; raises CloudError that names the place."""
    with translated(place, LIST_INSTANCES):
        request = compute_v1.AggregatedListInstancesRequest(_asked(compute_v1.AggregatedListInstancesRequest, project))
        pages = clients.instances.aggregated_list(request=request, retry=clients.retry, timeout=CALL_S).pages
        for page in pages:
            yield _page(compute_v1.InstanceAggregatedList.pb(page), "instances")


def _asked(kind: Any, project: str) -> dict[str, Any]:
    """What is asked for. Some versions of the client do not know the wish to have what answers where a zone does not:
    with those such a zone is the whole list's failure, or Google grants it unasked."""
    partial = {_PARTIAL: True} if _PARTIAL in kind.meta.fields else {}
    return {"project": project, "max_results": PAGE, **partial}


def _page(page: Any, kind: str) -> Page:
    silent = {scope for scope, listed in page.items.items() if listed.warning.code == _SILENT}
    return Page(
        found=tuple((scope, one) for scope, listed in page.items.items() for one in getattr(listed, kind)),
        unreachable=frozenset({*page.unreachables, *silent}),
    )
