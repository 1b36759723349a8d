"""Purposes: what measuring and cleaning up say of a call that failed, quotas included."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from google.api_core.exceptions import Forbidden

from plimsoll.clouds.google.errors import Purpose, attempted, message_of, too_many
from plimsoll.domain.errors import CloudError

MEASURING: Final = Purpose(
    goes_on="Nothing is measured there",
    allow="grant it to the caller there (docs/validation.md has the role), or use credentials that have it",
    again="try again later",
)
CLEANING: Final = Purpose(
    goes_on="The scratch disk may still be there",
    allow="grant it to the caller there (docs/validation.md has the role), or use credentials that have it",
    again="run `plimsoll sweep --cloud google` later",
)

_QUOTAS: Final = ("quota", "limit exceeded")


@contextmanager
def measuring(what: str, place: str, permission: str) -> Iterator[None]:
    """Raises what Google's clients raise inside as a CloudError, "cannot `what`"; Google calls a quota that is used up
    forbidden."""
    with attempted(what, place, permission, MEASURING):
        try:
            yield
        except Forbidden as error:
            said = message_of(error)
            used_up = any(word in said.lower() for word in _QUOTAS) and "quota project" not in said
            if too_many(error) or not used_up:
                raise
            raise CloudError(f"cannot {what}: {said}. Ask for a higher quota in IAM & Admin, Quotas.") from error


@contextmanager
def cleaning(what: str, place: str, permission: str) -> Iterator[None]:
    """As `measuring`, for what finds, detaches and deletes scratch disks."""
    with attempted(what, place, permission, CLEANING):
        yield
