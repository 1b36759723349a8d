"""Plans of changes in Slack: what one would do, and the word of somebody who approves it."""

from collections.abc import Iterator
from typing import Final

from plimsoll.model.errors import BadInput
from plimsoll.reports.wording import count_of
from plimsoll_change.ledger import PLAN_ROW, Fact, FactKind
from plimsoll_change.plan import ChangePlan
from plimsoll_change.progress import Progress
from plimsoll_service.change_plans import kept_ledger, service_rules
from plimsoll_service.change_words import PersonWord, check_word, keep_word
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.answers import person_paragraph, plain_message
from plimsoll_service.slack.actions.approve import APPROVE_ACTION
from plimsoll_service.slack.actions.asked import SlackRequest
from plimsoll_service.slack.blocks.elements import Block, Control, bold, bullets, line, note, paragraph, plan_controls
from plimsoll_service.slack.blocks.message import SlackMessage

_MOST_SHOWN: Final = 10

_APPROVE: Final = Control(action=APPROVE_ACTION.name, label=APPROVE_ACTION.label, cost=APPROVE_ACTION.cost)


def present_plan(plan_id: str, service: Service) -> SlackMessage:
    """A plan, what it waits for, and the button that approves it. Raises BadInput if there is none of that name."""
    ledger, now = kept_ledger(service.change_facts, plan_id), service.clock.now()
    plan, halt = ledger.plan, Progress.read(ledger).find_halt(now)
    offered = (_APPROVE,) if now < plan.expires else ()
    blocks = [*_plan_blocks(plan), paragraph(halt or "It is being carried out.")]
    return SlackMessage.compose(f"Plan of changes {plan.id}", [*blocks, *plan_controls(plan.id, plan.digest, offered)])


def _plan_blocks(plan: ChangePlan) -> Iterator[Block]:
    volumes = count_of(len(plan.lines), "volume")
    yield paragraph(
        bold(f"Plan {plan.id}: "), f"{volumes} change in waves, which saves ${plan.usd_month_saved:,.0f} a month."
    )
    shown = plan.lines[:_MOST_SHOWN]
    yield from bullets([bold(line(each.label)), f": {each.now} \u2192 {each.then}"] for each in shown)
    if len(plan.lines) > len(shown):
        yield note(f"And {len(plan.lines) - len(shown):,} more: plan.json in the bucket of facts has all of them.")
    if plan.late_back:
        late = count_of(len(plan.late_back), "volume")
        yield paragraph(bold(f"{late} cannot go back within a day. "), "Who approves accepts that.")
    yield note(f"Void from {plan.expires:%Y-%m-%d %H:%M} UTC on. Digest {plan.digest}")


def approve_change_plan(asked: SlackRequest, service: Service) -> SlackMessage:
    """Keeps the approval of whoever asked, once, and says what is missing still.

    Raises BadInput if they are no approver, or the plan is not what was shown.
    """
    slack = service.config.slack
    by = None if slack is None else slack.approvers.get(asked.user)
    if by is None or asked.plan is None or asked.digest is None:
        raise BadInput(
            "You approve no changes here: slack.approvers of the service's settings says which members may, and under "
            "which names."
        )
    ledger, now = kept_ledger(service.change_facts, asked.plan), service.clock.now()
    plan = ledger.plan
    word = PersonWord(say="approve", digest=asked.digest, accepts_late_back=bool(plan.late_back), reason="in Slack")
    check_word(plan, word, by, service_rules(service))
    if now >= plan.expires:
        raise BadInput(Progress(plan=plan, rows={}).find_halt(now) or "")
    if not keep_word(service.change_facts, plan.id, by, f"slack-{asked.id}", word):
        return plain_message(f"{by} has approved the plan {plan.id} before: nothing is done twice.")
    late = word.accepts_late_back
    approval = Fact(kind=FactKind.APPROVED, at=now, by=by, digest=plan.digest, accepts_late_back=late)
    missing = Progress(plan=plan, rows={PLAN_ROW: (*ledger.facts(PLAN_ROW), approval)}).find_halt(now)
    sentence = person_paragraph(asked.user, "approves the plan ", bold(plan.id), f" as {by}.")
    then = missing or "The service begins with its next pass, within ten minutes."
    return SlackMessage.compose(f"The plan {plan.id} is approved by {by}", [sentence, note(then)])
