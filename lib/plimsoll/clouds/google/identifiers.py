"""How Google Cloud's folders, organizations, regions and disks are called: patterns for the edges."""

from typing import Final

from plimsoll.clouds.google.names import PROJECT_ID

FOLDER_ID: Final = r"^(folders/)?[0-9]{1,20}$"
ORGANIZATION_ID: Final = r"^(organizations/)?[0-9]{1,20}$"
"""A number, alone or as the API names it."""

_REGION: Final = r"[a-z]{2,12}-[a-z]{2,12}[0-9]{1,2}"

REGION_NAME: Final = rf"^{_REGION}$"
"""A region, such as us-central1 or northamerica-northeast1."""

DISK_NAME: Final = rf"^({PROJECT_ID.strip('^$')}/{_REGION}/)?[0-9]{{1,20}}$"
"""A disk's own number, which has 64 bits (Compute Engine v1, `Disk.id`), or project/region/number."""
