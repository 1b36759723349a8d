"""How places and volumes of every cloud are named by people and machines: patterns for the edges.

Nothing but text is imported here: a function that Slack waits for reads it.
"""

from typing import Final

from plimsoll.clouds.aws.names import ACCOUNT_ID
from plimsoll.clouds.aws.names import VOLUME_NAME as EBS_VOLUME_NAME
from plimsoll.clouds.google.identifiers import DISK_NAME
from plimsoll.clouds.google.identifiers import REGION_NAME as GOOGLE_REGION
from plimsoll.clouds.google.names import PROJECT_ID


def _either(*patterns: str) -> str:
    return "|".join(f"({pattern})" for pattern in patterns)


ACCOUNT_NAME: Final = _either(ACCOUNT_ID, PROJECT_ID)
"""An AWS account's id or a Google project's; no text is both."""

REGION_NAME: Final = _either(r"^[a-z]{2,8}(-[a-z]+)+-\d{1,2}$", GOOGLE_REGION)
"""A region of AWS (eu-west-1) or of Google (europe-west1)."""

VOLUME_NAME: Final = _either(EBS_VOLUME_NAME, DISK_NAME)
"""A volume's id, or account/region/id, which need not be searched for; a disk of Google's is its number."""
