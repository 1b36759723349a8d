"""What is audited: the inventory of the projects that a scope comes to."""

from collections.abc import Sequence

from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.inventory import GoogleInventory
from plimsoll.clouds.google.projects import projects_in
from plimsoll.ports import FailedTarget


def inventory_in(
    clients: Clients,
    *,
    projects: Sequence[str] = (),
    folders: Sequence[str] = (),
    organizations: Sequence[str] = (),
    regions: Sequence[str] = (),
) -> GoogleInventory:
    """The inventory of the named projects and of those in folders and organizations, as `projects_in` has them.

    No `regions` are all. A project that only lies in a folder or an organization may have Compute Engine switched off.
    """
    named = projects_in(clients, projects=projects) if projects or not (folders or organizations) else []
    below = projects_in(clients, folders=folders, organizations=organizations) if folders or organizations else []
    found = [*named, *(one for one in below if one not in named)]
    return GoogleInventory(
        clients=clients,
        projects=[one for one in found if isinstance(one, str)],
        regions=regions or None,
        failed=[one for one in found if isinstance(one, FailedTarget)],
        named=[one for one in named if isinstance(one, str)],
    )
