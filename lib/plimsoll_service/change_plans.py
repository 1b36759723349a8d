"""Plans of the service: in the bucket of facts for ever, and in the store for as long as passes are taken of them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.jobs.document import StoredDocument
from plimsoll.ports import FactStore
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger
from plimsoll_change.plan_files import parse_rules, read_plan
from plimsoll_change.rules import ChangeRules
from plimsoll_service.change_messages import FindChangesMessage, FoundChanges
from plimsoll_service.change_words import words_key
from plimsoll_service.service import Service

_OPEN: Final = "changes/open/"


class OpenPlan(BaseModel):
    """A plan that passes are still taken of: when the next is due, the words that were read, and the last judgement.

    `told` counts the facts of each row that were told as news; `telling` those after an event that is being sent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    due: datetime
    words: int = 0
    judged: datetime | None = None
    told: Mapping[str, int] = Field(default_factory=dict)
    telling: Mapping[str, int] | None = None


def find_changes(service: Service, _message: FindChangesMessage) -> FoundChanges:
    """Names the open plans whose next pass is due, or on which somebody has said something since."""
    now = service.clock.now()
    return FoundChanges(
        plans=[
            plan_id
            for plan_id in find_open(service)
            if (state := open_document(plan_id).get(service.store)) is not None
            and (now >= state.due or count_words(service.change_facts, plan_id) != state.words)
        ]
    )


def find_open(service: Service) -> Iterator[str]:
    """The plans that passes are still taken of, by id."""
    for key in service.store.keys(_OPEN):
        yield key.removeprefix(_OPEN).removesuffix(".json")


def open_document(plan_id: str) -> StoredDocument[OpenPlan]:
    """The document that keeps a plan open."""
    return StoredDocument(f"{_OPEN}{plan_id}.json", OpenPlan, "open plan", "delete it, and make a new plan")


LEDGERS: Final[dict[tuple[FactStore, str], ChangeLedger]] = {}
"""The ledgers that this process has read, by store and plan: a fact that was read does not change."""


def kept_ledger(facts: FactStore, plan_id: str) -> ChangeLedger:
    """A plan and its ledger as it is now, one for as long as the process lives. Raises BadInput as `read_plan`."""
    plan = read_plan(facts, plan_id)  # and its digest checked, every time
    ledger = LEDGERS.setdefault((facts, plan_id), ChangeLedger(store=facts, plan=plan))
    ledger.read()
    return ledger


def read_halts(facts: FactStore, plan_id: str) -> ChangeLedger:
    """A plan, with the facts of the plan and its classes alone. Raises BadInput as `read_plan`."""
    plan = read_plan(facts, plan_id)
    ledger = ChangeLedger(store=facts, plan=plan)
    for row in (PLAN_ROW, *plan.class_rows.values()):
        ledger.read(row)
    return ledger


def count_words(facts: FactStore, plan_id: str) -> int:
    """The number of files in which people said something of a plan."""
    return sum(1 for _ in facts.keys(words_key(plan_id)))


def service_rules(service: Service) -> ChangeRules:
    """The rules of the service's configuration."""
    return parse_rules(service.config.change_rules, "change_rules")
