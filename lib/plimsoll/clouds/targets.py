"""Targets by their names: keys, messages and records hold an account and a region, and these tell the cloud."""

import re
from dataclasses import replace
from typing import Final

from plimsoll.clouds.google.names import PROJECT_ID
from plimsoll.clouds.google.names import PROVIDER as GOOGLE
from plimsoll.ports import Target

_PROJECT: Final = re.compile(PROJECT_ID)
_NUMBER: Final = re.compile(r"[0-9]+")


def named_target(account: str, region: str) -> Target:
    """The target of that account or project in that region, with its cloud: no text is an account's id and a
    project's."""
    target = Target(account=account, region=region)
    return target if _PROJECT.match(account) is None else replace(target, provider=GOOGLE)


def may_have(target: Target, volume_id: str) -> bool:
    """Whether a volume with that id can be there: Google's disks are numbers, and no other volumes are."""
    return (target.provider == GOOGLE) == (_NUMBER.fullmatch(volume_id) is not None)
