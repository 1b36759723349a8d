"""A service in memory with one open plan of changes, whose passes are taken as the schedule takes them."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from unittest.mock import patch

from functions import apply_changes, entry_point, find_changes
from plimsoll.clouds.local_store import FolderStore
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger
from plimsoll_change.plan_files import keep_plan, parse_rules
from plimsoll_change.ports import ChangeTools
from plimsoll_service import changing
from plimsoll_service.change_plans import LEDGERS, OpenPlan, open_document
from plimsoll_service.change_words import PersonWord, keep_word
from tests.functions.calls import ask
from tests.service_loop import a_service
from tests.unit.change.memory import MemoryChanger, MovedClock, ToldJudge, a_plan, the_volume
from tests.unit.service.places import NOW, places_of, service_of

RULES = {"approvers": ["ada", "grace"], "two_people_above_usd_month": 2000.0}


@dataclass
class Tagged(MemoryChanger):
    """Volumes that can be marked; `denied` raises instead."""

    tags: dict[str, str] = field(default_factory=dict)
    denied: Exception | None = None

    def tag(self, _target, volume_ids, plan_id):
        if self.denied is not None:
            raise self.denied
        self.tags |= dict.fromkeys(volume_ids, plan_id)


@dataclass
class ChangedPlaces:
    """Volumes in memory; `asked` are the accounts that were opened."""

    changer: Tagged
    asked: list[frozenset[str]] = field(default_factory=list)

    def change_tools(self, accounts):
        self.asked.append(frozenset(accounts))
        return ChangeTools(changer=self.changer, metrics=None)

    def tagger(self, _target):
        return self.changer


class Changing:
    """A service with one open plan, whose passes are taken as the schedule takes them."""

    def __init__(self, folder, *lines, slack=None, **fields):
        rules = parse_rules({**RULES, **fields.pop("rules", {})}, "rules")
        self.plan = a_plan(*lines, rules=rules, **fields)
        self.clock, self.judge, self.killed = MovedClock(), ToldJudge(), False
        volumes = {line.volume_id: the_volume(line) for line in self.plan.lines}
        self.places = ChangedPlaces(Tagged(clock=self.clock, volumes=volumes))
        config = service_of(places_of([]), folder, change_rules=RULES, slack=slack).config
        self.service = replace(
            a_service(config, self.places, folder, NOW),
            clock=self.clock,
            facts=FolderStore(folder / "facts"),
            is_killed=lambda: self.killed,
        )
        keep_plan(self.service.facts, self.plan)
        open_document(self.plan.id).put(self.service.store, OpenPlan(due=self.clock.now()))
        self.number = 0

    @property
    def changer(self):
        return self.places.changer

    def say(self, by, file="1", **fields):
        keep_word(self.service.facts, self.plan.id, by, file, PersonWord(**{"digest": self.plan.digest, **fields}))

    def execute(self):
        """One execution of the state machine, in a process of its own."""
        LEDGERS.clear()
        self.number += 1
        name = f"e{self.number}"
        with (
            patch.object(entry_point, "service", lambda _places=None: self.service),
            patch.object(changing, "MetricsJudge", lambda **_tools: self.judge),
        ):
            plans = ask(find_changes, {"name": name})["plans"]
            return [ask(apply_changes, {"plan": plan, "name": name}) for plan in plans]

    def run(self, *, days=0, **time):
        """Executions for that time: for hours every ten minutes, as scheduled, and for days every hour."""
        end = self.clock.now() + timedelta(days=days, **time)
        while self.clock.now() < end:
            self.execute()
            self.clock.pause(3600 if days else 600)

    def facts(self, row=PLAN_ROW):
        ledger = ChangeLedger(store=self.service.facts, plan=self.plan)
        ledger.read()
        return ledger.facts(row)

    @property
    def events(self):
        """The details of the events that were sent."""
        assert {kind for kind, _ in self.service.events.sent} <= {"ChangesProgressed"}
        return [detail for _, detail in self.service.events.sent]

    def news(self, *kinds):
        """The news of the events, by kind and title."""
        told = [(each["kind"], each["title"]) for event in self.events for each in event["news"]]
        return [each for each in told if not kinds or each[0] in kinds]

    def codes(self, row=PLAN_ROW):
        return [(str(fact.kind), fact.code, fact.by) for fact in self.facts(row)]
