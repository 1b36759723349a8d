"""Money added up: what volumes cost and can save, USD a month, in whole cents, so that no order of adding matters."""

from dataclasses import dataclass

from plimsoll.reports.record import RecommendationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Sums over recommendations, in cents a month; the `usd_` forms are what is shown.

    What throttled volumes would cost more is beside the saving, and so is what detached ones cost.
    """

    now_cents: int = 0
    saved_cents: int = 0
    saved_drop_in_cents: int = 0
    blocked_cents: int = 0
    detached_cents: int = 0
    upgrades_cents: int = 0

    def __add__(self, other: "Money") -> "Money":
        return Money(
            now_cents=self.now_cents + other.now_cents,
            saved_cents=self.saved_cents + other.saved_cents,
            saved_drop_in_cents=self.saved_drop_in_cents + other.saved_drop_in_cents,
            blocked_cents=self.blocked_cents + other.blocked_cents,
            detached_cents=self.detached_cents + other.detached_cents,
            upgrades_cents=self.upgrades_cents + other.upgrades_cents,
        )

    @property
    def usd_now(self) -> float:
        """What the volumes cost."""
        return self.now_cents / 100

    @property
    def usd_saved(self) -> float:
        """What can be saved."""
        return self.saved_cents / 100

    @property
    def usd_saved_drop_in(self) -> float:
        """What of the saving needs no proof."""
        return self.saved_drop_in_cents / 100

    @property
    def usd_saved_on_proof(self) -> float:
        """What of the saving rests on the measured demand."""
        return (self.saved_cents - self.saved_drop_in_cents) / 100

    @property
    def usd_blocked(self) -> float:
        """What of the saving is forbidden today."""
        return self.blocked_cents / 100

    @property
    def usd_detached(self) -> float:
        """What is paid for volumes that are attached to nothing."""
        return self.detached_cents / 100

    @property
    def usd_upgrades(self) -> float:
        """What throttled volumes would cost more."""
        return self.upgrades_cents / 100


def money_of(record: RecommendationRecord) -> Money:
    """The money of one recommendation; nothing where no price is known."""
    now, saved = in_cents(record.monthly_usd_now or 0.0), in_cents(record.monthly_usd_saved)
    if record.action == "detached":
        return Money(now_cents=now, detached_cents=now)
    if record.action == "upgrade" and saved < 0:
        return Money(now_cents=now, upgrades_cents=-saved)
    return Money(
        now_cents=now,
        saved_cents=saved,
        saved_drop_in_cents=in_cents(record.monthly_usd_saved_drop_in),
        blocked_cents=saved if record.blockers else 0,
    )


def in_cents(usd: float) -> int:
    """Money of two decimals in whole cents."""
    return round(usd * 100)
