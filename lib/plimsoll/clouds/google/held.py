"""What is held now: at which instances, and under which device names there, a project's disks are.

The disks that are read together are a part of a project's; only its instances tell of all.
"""

import threading
from dataclasses import dataclass, field

from plimsoll.clouds.google.aggregated import instance_pages
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.joining import Place


@dataclass(slots=True, kw_only=True)
class Held:
    """The places of each project that have a disk, listed when they are first asked for and then kept."""

    clients: Clients
    _known: dict[str, frozenset[Place]] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __call__(self, project: str, place: str) -> frozenset[Place]:
        """Those of a project; raises CloudError that names the place."""
        with self._lock:
            if project not in self._known:
                self._known[project] = frozenset(
                    (str(found.id), disk.device_name)
                    for page in instance_pages(self.clients, project, place)
                    for _, found in page.found
                    for disk in found.disks
                )
            return self._known[project]
