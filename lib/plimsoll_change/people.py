"""People: approvals, stops and words to go on, as facts of the ledger. Whatever asks for them calls these."""

from datetime import datetime

from plimsoll.model.errors import BadInput
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, RowTaken
from plimsoll_change.plan import ChangePlan, check_approver, find_refusal
from plimsoll_change.progress import Progress, find_approvals


def note_approval(
    plan: ChangePlan, ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "", accepts_late_back: bool = False
) -> str | None:
    """Notes somebody's approval of a plan, and says what is missing still; None if it may be applied.

    Raises BadInput if they cannot approve it, or it has expired.
    """
    refusal = check_approver(plan, by) or (find_refusal(plan, (), at) if at >= plan.expires else None)
    if refusal is not None:
        raise BadInput(refusal)
    fact = Fact(
        kind=FactKind.APPROVED,
        at=at,
        by=by,
        text=reason,
        digest=plan.digest,
        accepts_late_back=accepts_late_back,
    )
    add_in_turn(ledger, PLAN_ROW, fact)
    return find_refusal(plan, find_approvals(ledger.facts(PLAN_ROW)), at)


def note_go_on(
    plan: ChangePlan, ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "", only_class: str | None = None
) -> None:
    """Notes that a paused plan goes on, with its stopped classes; or one class of it. Raises BadInput if none may."""
    refusal = check_approver(plan, by)
    if refusal is not None:
        raise BadInput(refusal)
    rows = plan.class_rows
    if only_class is not None and only_class not in rows:
        raise BadInput(f"the plan has no class {only_class}: it has {'; '.join(rows)}.")
    progress = Progress(plan=plan, rows=ledger.rows)
    stopped = [row for name, row in rows.items() if progress.find_stop(name) and only_class in (None, name)]
    for row in [*([PLAN_ROW] if only_class is None else []), *stopped]:
        add_in_turn(ledger, row, Fact(kind=FactKind.RESUMED, at=at, by=by, text=reason))


def note_stop(ledger: ChangeLedger, *, by: str, at: datetime, reason: str = "") -> None:
    """Notes that a plan begins nothing more."""
    text = reason or "no reason was given."
    add_in_turn(ledger, PLAN_ROW, Fact(kind=FactKind.STOPPED, at=at, by=by, text=text))


def add_in_turn(ledger: ChangeLedger, row: str, fact: Fact) -> None:
    """Adds a fact to a row that another process may be writing: a person's word is not lost."""
    while True:
        try:
            return ledger.add(row, fact)
        except RowTaken:
            ledger.read()
