"""Guest attributes: what Plimsoll's agent on a VM has written for everybody who may read the VM."""

from typing import Final

from google.api_core.exceptions import NotFound

from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.purposes import measuring
from plimsoll.ports import Target

NAMESPACE: Final = "plimsoll"
_PERMISSION: Final = "compute.instances.getGuestAttributes"


def guest_attributes(clients: Clients, target: Target, zone: str, name: str) -> dict[str, str]:
    """All that the agent on a VM has written, by key; empty where it has written nothing yet."""
    place = f"{target.account}/{zone}"
    request = {"project": target.account, "zone": zone, "instance": name, "query_path": f"{NAMESPACE}/"}
    with measuring(f"read what the agent on {name} in {place} says", place, _PERMISSION):
        try:
            found = clients.instances.get_guest_attributes(request=request, retry=clients.retry, timeout=CALL_S)
        except NotFound:
            return {}
    return {item.key: item.value for item in found.query_value.items if item.namespace == NAMESPACE}
