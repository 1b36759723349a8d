"""Labels of Google Cloud's resources, as the tags that a policy and reports know."""

from collections.abc import Mapping
from typing import Final

from plimsoll.domain.volume import NAME_TAG

_OURS: Final = "plimsoll-"
_OUR_TAGS: Final = "plimsoll:"


def tags_of(labels: Mapping[str, str], name: str) -> dict[str, str]:
    """The labels and the resource's own name as tags.

    Labels cannot hold a colon: plimsoll-exclude, plimsoll-bench and the like are the tags plimsoll:exclude and
    plimsoll:bench too.
    """
    ours = {key.replace(_OURS, _OUR_TAGS, 1): value for key, value in labels.items() if key.startswith(_OURS)}
    return {**labels, **ours, NAME_TAG: name}
