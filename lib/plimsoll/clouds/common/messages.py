"""Messages: the purpose of a call, tables of error codes, a message on one line, and the fault in a region's name."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.clouds.common.hiding import without_secrets
from plimsoll.model.errors import BadInput, CloudError


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPurpose:
    """The purpose of a call, for the sentence of its error.

    - `goes_on` says what follows from the failure, and `allow` how to allow the call.
    - `again` says what to do about too many calls.
    - `region` says what to do about a region that is switched off, in a cloud that has such regions.
    """

    goes_on: str
    allow: str
    again: str
    region: str = ""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A row of a cloud's table: codes of answers and classes of exceptions, the kind of error, and its sentence."""

    codes: Sequence[str | type[Exception]]
    kind: type[CloudError]
    sentence: str  # follows "cannot ...: ", with its fields in braces

    def is_of(self, error: Exception, code: str) -> bool:
        """True if the row says what an error is."""
        return any(code == name if isinstance(name, str) else isinstance(error, name) for name in self.codes)


def translate_error(rows: Iterable[ErrorRow], error: Exception, code: str, what: str, **fields: object) -> CloudError:
    """The CloudError of the first row that has the error; `what` follows "cannot". The last row has every one."""
    row = next(row for row in rows if row.is_of(error, code))
    return row.kind(f"cannot {what}: {row.sentence.format(**fields)}")


def one_line(text: str) -> str:
    """A message of a cloud or its library on one line, without secrets and its final full stop."""
    return " ".join(without_secrets(text).split()).rstrip(".")


def check_regions(names: Sequence[str], known: Sequence[str], *, cloud: str, listed_by: str) -> None:
    """Raises BadInput for an unknown region, with the nearest names or the command that lists them."""
    for region in names:
        if region not in known:
            near = difflib.get_close_matches(region, known, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"see the list with `{listed_by}`."
            raise BadInput(f"there is no {cloud} region {region}: {hint}")
