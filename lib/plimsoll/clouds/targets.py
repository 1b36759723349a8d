"""Targets by their names: keys, messages and records hold an account and a region, which tell the cloud."""

import re

from plimsoll.clouds.registry import CLOUDS, cloud_of_account
from plimsoll.ports import Target


def named_target(account: str, region: str) -> Target:
    """The target of that account (or project) in that region, with the cloud that names accounts so."""
    return Target(account=account, region=region, provider=cloud_of_account(account).name)


def may_have(target: Target, volume_id: str) -> bool:
    """True if a volume with that id can be at a target: each cloud has ids of its own."""
    return re.fullmatch(CLOUDS[target.provider].volume_id, volume_id) is not None
