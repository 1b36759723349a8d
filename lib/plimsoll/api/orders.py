"""Orders: the run that an audit is to carry out, and the ports that it reads from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.bootstrap.recordings import recorded_ports
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.policy import Policy
from plimsoll.orders import Order, resumed
from plimsoll.reports.run_reader import RECOMMENDATIONS, RUN
from plimsoll.settings import Settings
from plimsoll.writing import check_place


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be audited, by which policy, and into which folder (None: a new one under the folder of runs).

    A `recording` is read in the place of clouds. `resume` is an earlier run that is gone on with: it is read where it
    was begun.
    """

    scope: Scope
    policy: Policy
    folder: Path | None = None
    recording: Path | None = None
    resume: Path | None = None
    every_minute: bool = False


def order_and_ports(
    wanted: Wanted, settings: Settings, ledger: Ledger, now: datetime
) -> tuple[Order, Sequence[AuditPorts]]:
    """The run to carry out, and the ports of each cloud. BadInput for places and recordings that cannot be used."""
    if wanted.resume is not None:
        return _earlier(wanted.resume, wanted.scope.external_id, settings, ledger)
    folder, policy = _new_folder(wanted.folder, settings), wanted.policy
    if wanted.recording is not None:
        audits, now = recorded_ports(wanted.recording, settings)
        scope: dict[str, object] = {"recording": str(wanted.recording)}
    else:
        audits = ports_of(wanted.scope, settings, today=now.date(), ledger=ledger, log_days=policy.log_days)
        scope = wanted.scope.as_dict()
    return Order(folder=folder, scope=scope, policy=policy, now=now, every_minute=wanted.every_minute), audits


def _new_folder(out: Path | None, settings: Settings) -> Path:
    """A folder that can be written and holds no run; so can the folder of runs, where the ledger of changes is."""
    folder = out or settings.runs_dir / clock().now().strftime("%Y%m%dT%H%M%SZ")
    check_place(folder)
    check_place(settings.runs_dir)
    if (folder / RUN).exists() or (folder / RECOMMENDATIONS).exists():
        raise BadInput(f"{folder} holds a run already: give another --out, or go on with it by --resume {folder}.")
    return folder


def _earlier(
    folder: Path, external_id: str | None, settings: Settings, ledger: Ledger
) -> tuple[Order, Sequence[AuditPorts]]:
    """An earlier run, and the audits that it was begun in."""
    order = resumed(folder)
    check_place(folder)
    recording = order.scope.get("recording")
    if isinstance(recording, str):
        return order, recorded_ports(Path(recording), settings)[0]
    scope = Scope.from_dict(order.scope, external_id=external_id)
    log_days = order.policy.log_days
    audits = ports_of(scope, settings, today=order.now.date(), ledger=ledger, log_days=log_days)
    return replace(order, scope=scope.as_dict()), audits
