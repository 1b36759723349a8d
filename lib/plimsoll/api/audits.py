"""An audit from Python: the run that `plimsoll audit` writes, and the ports that it reads from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from plimsoll.api.runs import Run, read_run
from plimsoll.auditing.at_once import Deciders
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.books import change_ledger
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import LEARNED_HERE_FILE, ports_of
from plimsoll.bootstrap.recordings import recorded_ports
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.files import check_place
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.orders import Order, read_order
from plimsoll.outcomes import Outcome
from plimsoll.policy_file import PolicyLike, policy_of
from plimsoll.reports.run_files import RECOMMENDATIONS, RUN
from plimsoll.run import carry_out
from plimsoll.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The wish for an audit: scope, policy, and folder (None: a new one under the folder of runs).

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
    order = read_order(folder)
    check_place(folder)
    recording = order.scope.get("recording")
    if isinstance(recording, str):
        return order, recorded_ports(Path(recording), settings)[0]
    scope = Scope.from_dict(order.scope, external_id=external_id)
    log_days = order.policy.log_days
    audits = ports_of(scope, settings, today=order.now.date(), ledger=ledger, log_days=log_days)
    return replace(order, scope=scope.as_dict()), audits


def audit(
    scope: Scope | None = None,
    policy: PolicyLike = None,
    *,
    out: Path | str | None = None,
    recording: Path | str | None = None,
    resume: Path | str | None = None,
    every_minute: bool = False,
    progress: Callable[[Outcome], None] = lambda _outcome: None,
) -> Run:
    """Audits the volumes of a scope into a run's folder, and gives the run. Nothing is changed in the cloud.

    - `scope`: which clouds, accounts and regions. Without one: AWS, with the default credentials, in every region.
    - `policy`: a Policy, its keys as a mapping, or the path of a policy file.
    - `out`: the folder. Without one it is a new one under ./plimsoll-runs, or PLIMSOLL_RUNS_DIR.
    - `recording`: decide by what `plimsoll audit --record` kept, and ask no cloud.
    - `resume`: go on with the run in that folder, by its own scope and policy.
    - `progress`: called with each outcome as it comes.

    Raises BadInput for what cannot be used, and NothingRead where no account or region could be read. What fails for
    one volume or account does not end the others: `Run.status` is then `partial`, and `Run.summary` says why.
    """
    if resume is not None and (policy is not None or out or recording or every_minute):
        raise BadInput(
            "resume goes on with a run as it was begun: leave out policy, out, recording and every_minute. A scope "
            "counts for its external id alone."
        )
    settings, now = Settings.from_environment(), clock().now()
    ledger = change_ledger(settings)
    wanted = Wanted(
        scope=scope or Scope(),
        policy=policy_of(policy),
        folder=_path(out),
        recording=_path(recording),
        resume=_path(resume),
        every_minute=every_minute,
    )
    order, audits = order_and_ports(wanted, settings, ledger, now)
    carry_out(
        order,
        audits,
        lambda _progress, outcome: progress(outcome),
        promised=ledger.promised,
        learned=settings.runs_dir / LEARNED_HERE_FILE,
        deciders=Deciders(settings.deciders, settings.decider_timeout_s),
    )
    ledger.save(now)
    return read_run(order.folder)


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)
