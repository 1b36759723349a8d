"""Scopes: zones and regions as Google's URLs and aggregated lists name them."""

from collections.abc import Iterable


def last_of(url: str) -> str:
    """The name that a URL ends with."""
    return url.rpartition("/")[2]


def path_of(url: str) -> str:
    """A resource's URL from `projects/` on, by which it is the same whichever host named it."""
    return "projects/" + url.rpartition("projects/")[2]


def region_of(scope: str) -> str | None:
    """The region of a scope: zones/us-central1-a and regions/us-central1 are of us-central1, `global` is of none."""
    *_, kind, name = ("", "", *scope.split("/"))
    if kind == "zones":
        return name.rpartition("-")[0]
    return name if kind == "regions" else None


def zone_of(zone_url: str, replica_urls: Iterable[str]) -> str:
    """The zone of a disk; those of a regional disk's replicas, joined by "+"."""
    return last_of(zone_url) if zone_url else "+".join(sorted(map(last_of, replica_urls)))
