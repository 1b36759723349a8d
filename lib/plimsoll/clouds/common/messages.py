"""Messages: what a call was for, what a cloud says on one line, and what is wrong with the name of a region."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.clouds.common.hiding import without_secrets
from plimsoll.domain.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a call is for, as its error says it.

    - `goes_on` says what follows from the failure, and `allow` how to allow the call.
    - `again` says what to do about too many calls.
    - `region` says what to do about a region that is switched off, where a cloud has such.
    """

    goes_on: str
    allow: str
    again: str
    region: str = ""


def one_line(text: str) -> str:
    """What a cloud or its library says on one line, without secrets and without the full stop at its end."""
    return " ".join(without_secrets(text).split()).rstrip(".")


def check_regions(given: Sequence[str], known: Sequence[str], *, cloud: str, listed_by: str) -> None:
    """BadInput for a name that is no region of a cloud, with the nearest regions or the command that lists them."""
    for region in given:
        if region not in known:
            near = difflib.get_close_matches(region, known, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"see the list with `{listed_by}`."
            raise BadInput(f"there is no {cloud} region {region}: {hint}")
