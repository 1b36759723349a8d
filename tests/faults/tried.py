"""A run of a plan: what was injected, what became of each volume, and the laws that it broke."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .injector import Injected
from .law import Breach
from .plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What came of a plan; `kills` is how often its command was killed, `calls` how many it made."""

    plan: Plan
    injected: tuple[Injected, ...]
    outcomes: Mapping[str, str]
    breaches: tuple[Breach, ...]
    kills: int
    calls: int
    seconds: float

    def __str__(self) -> str:
        """What a failed test says."""
        paths = sorted({".".join(one.path) for one in self.injected if one.path})
        broken = "\n".join(f"  {one.kind}: {one.told}" for one in self.breaches)
        return f"{self.plan} at {', '.join(paths) or 'the whole answer'}\n{broken}"


def line_of(tried: Tried) -> dict[str, object]:
    """A run as a line of JSON."""
    return {
        "seed": tried.plan.seed,
        "plan": str(tried.plan),
        "met": sorted({one.fault for one in tried.injected}),
        "injected": len(tried.injected),
        "paths": sorted({".".join(one.path) for one in tried.injected if one.path}),
        "kills": tried.kills,
        "outcomes": dict(Counter(tried.outcomes.values())),
        "breaches": [{"kind": one.kind, "told": one.told} for one in tried.breaches],
        "calls": tried.calls,
        "seconds": round(tried.seconds, 2),
    }
