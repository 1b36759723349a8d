"""Places of several clouds: each target is entered by what knows its cloud."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.errors import BadInput
from plimsoll.ports import Bench, FailedTarget, Target
from plimsoll.service.service import Places


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesByCloud:
    """The places of each cloud, by the name that targets give it."""

    clouds: Mapping[str, Places]

    def targets(self) -> Sequence[Target | FailedTarget]:
        """Every target of every cloud, cloud by cloud."""
        return [target for places in self.clouds.values() for target in places.targets()]

    def ports(self, target: Target, *, now: datetime, measured: Path, ledger: Ledger) -> AuditPorts:
        """The ports of that target alone; BadInput for a cloud that is not audited from here."""
        return self._of(target).ports(target, now=now, measured=measured, ledger=ledger)

    def bench(self, target: Target) -> Bench:
        """Where volumes of that target are measured; BadInput where none are."""
        return self._of(target).bench(target)

    def unmeasured(self, target: Target) -> str | None:
        """Why nothing can be measured there, None where it can."""
        there = self.clouds.get(target.provider)
        return without_bench(target) if there is None else there.unmeasured(target)

    def _of(self, target: Target) -> Places:
        try:
            return self.clouds[target.provider]
        except KeyError as error:
            raise BadInput(
                f"{target} is of the cloud {target.provider!r}, which is not in the scope of this service: see its "
                "configuration."
            ) from error


def without_bench(target: Target) -> str:
    """Why nothing is measured at a target of a cloud where the service has no bench."""
    return (
        f"nothing is measured in {target}: the service has no bench in the cloud {target.provider!r}. What is "
        "recommended there rests on published limits, and on what was measured elsewhere."
    )
