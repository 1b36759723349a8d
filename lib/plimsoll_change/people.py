"""People: approvals, stops, words to go on and ways back, as facts of the ledger. Who asks for them calls these."""

from collections.abc import Iterable
from datetime import datetime

from plimsoll.model.errors import BadInput
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind
from plimsoll_change.plan import ChangePlan
from plimsoll_change.progress import Progress


def check_approver(plan: ChangePlan, by: str) -> None:
    """Raises BadInput if somebody cannot approve a plan."""
    if not by.strip():
        raise BadInput("an approval needs a name: give --by.")
    if plan.rules.approvers and by not in plan.rules.approvers:
        raise BadInput(f"{by} approves no changes: the plan's rules name {', '.join(plan.rules.approvers)}.")


def note_approval(
    ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "", accepts_late_back: bool = False
) -> str | None:
    """Notes somebody's approval of a plan, and says what is missing still; None if it may be applied.

    Raises BadInput if they cannot approve it, or it has expired.
    """
    plan, late = ledger.plan, accepts_late_back
    check_approver(plan, by)
    if at >= plan.expires:
        raise BadInput(Progress(plan=plan, rows={}).find_halt(at) or "")
    fact = Fact(kind=FactKind.APPROVED, at=at, by=by, text=reason, digest=plan.digest, accepts_late_back=late)
    ledger.add_in_turn(PLAN_ROW, fact)
    return Progress.read(ledger).find_halt(at)


def note_go_on(ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "", only_class: str | None = None) -> None:
    """Notes that a paused plan goes on, with its stopped classes; or one class of it. Raises BadInput if none may."""
    check_approver(ledger.plan, by)
    rows, classes = ledger.plan.class_rows, Progress.read(ledger).classes
    if only_class is not None and only_class not in rows:
        raise BadInput(f"the plan has no class {only_class}: it has {'; '.join(rows)}.")
    stopped = [row for name, row in rows.items() if classes[name].stop and only_class in (None, name)]
    for row in [*([PLAN_ROW] if only_class is None else []), *stopped]:
        ledger.add_in_turn(row, Fact(kind=FactKind.RESUMED, at=at, by=by, text=reason))


def note_stop(ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "") -> None:
    """Notes that a plan begins nothing more."""
    text = reason or "no reason was given."
    ledger.add_in_turn(PLAN_ROW, Fact(kind=FactKind.STOPPED, at=at, by=by, text=text))


def note_back(ledger: ChangeLedger, lines: Iterable[str], *, by: str, at: datetime, reason: str = "") -> list[str]:
    """Notes that a person takes these lines back, and gives those that go back now."""
    jobs = Progress.read(ledger).jobs
    changed = [jobs[name] for name in lines if jobs[name].may_go_back]
    for job in changed:
        ledger.add_in_turn(job.line.id, job.take_back(at, code="asked", text=reason, by=by).facts[-1])
    return [job.line.id for job in changed]
