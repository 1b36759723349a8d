"""The terms of a validation, as its options name them."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.domain.validation import Budget, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a validation is to be carried out. `plan`: only say what it would be; `yes`: do not ask."""

    mode: Mode
    bench_hosts: tuple[str, ...]
    budget: Budget
    plan: bool
    yes: bool

    @classmethod
    def of(
        cls,
        bench_hosts: Sequence[str] | None,
        *,
        max_usd: float | None = None,
        max_runs: int,
        yes: bool,
        mode: Mode = Mode.CANARY,
        plan: bool = False,
    ) -> "Terms":
        """The terms that these options name."""
        budget = Budget(max_usd=max_usd, max_runs=max_runs)
        return cls(mode=mode, bench_hosts=tuple(bench_hosts or ()), budget=budget, plan=plan, yes=yes)
