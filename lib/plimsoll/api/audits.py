"""An audit from Python: the run that `plimsoll audit` writes."""

from collections.abc import Callable
from pathlib import Path

from plimsoll.api.orders import Wanted, order_and_ports
from plimsoll.api.runs import Run, read_run
from plimsoll.bootstrap.books import change_ledger
from plimsoll.bootstrap.clocks import clock
from plimsoll.bootstrap.clouds import LEARNED_HERE
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.outcomes import Outcome
from plimsoll.policy_file import PolicyLike, policy_of
from plimsoll.run import carry_out
from plimsoll.settings import Settings


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
    settings, now = Settings.of_environment(), clock().now()
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
        learned=settings.runs_dir / LEARNED_HERE,
    )
    ledger.save(now)
    return read_run(order.folder)


def _path(given: Path | str | None) -> Path | None:
    return None if given is None else Path(given)
