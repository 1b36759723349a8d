"""Ports over what was read of a target before, so that a part of the target can be audited alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.domain.errors import CloudError
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.volume import Volume
from plimsoll.ports import FailedTarget, Target, UnreadVolume


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInventory:
    """Some volumes of one target, what is to be known of it, and the error that its list ended in if it did."""

    target: Target
    given: Sequence[Volume | UnreadVolume]
    texts: Sequence[str] = ()
    error: CloudError | None = None

    def targets(self) -> Sequence[Target | FailedTarget]:
        """That target."""
        return (self.target,)

    def volumes(self, _target: Target) -> Iterator[Volume | UnreadVolume]:
        """Those volumes, then the error."""
        yield from self.given
        if self.error is not None:
            raise self.error

    def notices(self, _target: Target) -> Sequence[str]:
        """What is to be known of it."""
        return self.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrices:
    """The price book of one target; None where it has none, an error where it could not be read."""

    answer: PriceBook | CloudError | None

    def book(self, _target: Target) -> PriceBook | None:
        """That book."""
        if isinstance(self.answer, CloudError):
            raise self.answer
        return self.answer
