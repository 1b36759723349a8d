"""Messages: what a cloud says on one line, and what is wrong with the name of a region."""

import difflib
from collections.abc import Sequence

from plimsoll.domain.errors import BadInput


def one_line(text: str) -> str:
    """The text on one line, without the full stop at its end."""
    return " ".join(text.split()).rstrip(".")


def check_regions(given: Sequence[str], known: Sequence[str], *, cloud: str, listed_by: str) -> None:
    """BadInput for a name that is no region of a cloud, with the nearest regions or the command that lists them."""
    for region in given:
        if region not in known:
            near = difflib.get_close_matches(region, known, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"see the list with `{listed_by}`."
            raise BadInput(f"there is no {cloud} region {region}: {hint}")
