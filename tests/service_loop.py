"""The service's audit without its state machine: the parts in its order, driven in a plain loop."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from plimsoll.bootstrap.consoles import console_link
from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import PlimsollError, Throttled, Unreachable
from plimsoll.settings import Settings
from plimsoll_service.auditing import audit_lot
from plimsoll_service.bootstrap.service import measured_envelopes
from plimsoll_service.combining import combine
from plimsoll_service.config import ServiceConfig
from plimsoll_service.inventory import take_inventory
from plimsoll_service.planning import find_pending, plan
from plimsoll_service.reporting import keep_report, note_sent_news
from plimsoll_service.service import Service, ServicePlaces
from plimsoll_service.step_messages import (
    AccountItem,
    AccountMessage,
    BatchItem,
    FailureMessage,
    LotItem,
    LotMessage,
    PendingMessage,
    PlanMessage,
    Reported,
    RunMessage,
    ShardItem,
    ShardMessage,
    StepError,
)
from plimsoll_service.summarizing import note_failure, summarize
from plimsoll_service.sweeping import conclude_sweep, plan_sweep, sweep_account
from plimsoll_service.validation_messages import (
    SweepAccountMessage,
    SweepEndMessage,
    SweepInput,
    SweepMessage,
    SweptAll,
)
from tests.in_memory.ports import MemoryClock
from tests.in_memory.service import MemoryClaims, MemoryEvents, MemoryExecutions, MemoryHistory

MACHINE = "arn:aws:states:us-east-1:111111111111:execution:audit"
AGAIN = (Throttled, Unreachable)


def a_service(config: ServiceConfig, places: ServicePlaces, folder: Path, now: datetime) -> Service:
    """A service whose store is a folder, and everything else in memory."""
    return Service(
        config=config,
        settings=Settings(),
        places=places,
        store=FolderStore(folder / "store"),
        root=str(folder / "store"),
        measured=folder / "measured",
        claims=MemoryClaims(),
        history=MemoryHistory(),
        events=MemoryEvents(),
        executions=MemoryExecutions(),
        clock=MemoryClock(time=now),
        envelopes=measured_envelopes,
        console_link=console_link,
    )


@dataclass(kw_only=True)
class Loop:
    """One execution after another. `batch_volumes` and `slice_volumes` are of how many volumes each part is; `stop`
    says after how many slices a function's time is over; `crash` may raise before a batch is audited. With `at_once`
    functions at a time, every batch of a target that has several is a lot of its own."""

    service: Service
    now: datetime
    batch_volumes: int = 500
    slice_volumes: int = 100
    slices: int | None = None
    attempts: int = 2
    at_once: int = 1000
    crash: Callable[[BatchItem], None] = lambda _item: None
    rounds: int = 0
    audited: list[BatchItem] = field(default_factory=list)

    def run(self, name: str = "first", **given: str) -> Reported:
        """The whole machine."""
        run_id = self.begin(name, **given)
        self.take_inventories(run_id)
        self.audit_batches(run_id)
        return self.end(run_id)

    def begin(self, name: str = "first", **given: str) -> str:
        message = {"execution": f"{MACHINE}:{name}", "name": name, "started": self.now.isoformat(), "input": given}
        planned = plan(self.service, PlanMessage.model_validate(message))
        assert planned.state == "go"
        return planned.run_id

    def take_inventories(self, run_id: str) -> None:
        for item in self._items(f"work/{run_id}/accounts.json"):
            account = AccountItem.model_validate(item)
            told = AccountMessage(run_id=run_id, account=account)
            self._tried(
                lambda told=told: take_inventory(self.service, told, batch_volumes=self.batch_volumes),
                {"run_id": run_id, "account": account},
            )

    def audit_batches(self, run_id: str) -> None:
        while (found := find_pending(self.service, PendingMessage(run_id=run_id, at_once=self.at_once))).pending:
            self.rounds += 1
            for item in self._items(found.pending_key):
                lot = LotItem.model_validate(item)
                told = LotMessage(run_id=run_id, lot=lot)
                self._tried(lambda told=told: self._audit(told), {"run_id": run_id, "lot": lot})

    def combine_shards(self, run_id: str) -> None:
        assert find_pending(self.service, PendingMessage(run_id=run_id)).pending == 0
        for item in self._items(f"work/{run_id}/shards.json"):
            combine(self.service, ShardMessage(run_id=run_id, shard=ShardItem.model_validate(item)))

    def end(self, run_id: str) -> Reported:
        self.combine_shards(run_id)
        summarize(self.service, RunMessage(run_id=run_id))
        made = keep_report(self.service, RunMessage(run_id=run_id))
        self.service.events.send([made.ended, *made.news])
        note_sent_news(self.service, RunMessage(run_id=run_id), made.news)
        return made.answer

    def _audit(self, told: LotMessage) -> BaseModel | None:
        for batch in told.lot.batches:
            self.audited.append(batch)
            self.crash(batch)
        asked = 0

        def stop() -> bool:
            nonlocal asked
            asked += 1
            return self.slices is not None and asked > self.slices + 1  # it is asked before the target as well

        audit_lot(self.service, told, stop=stop, slice_volumes=self.slice_volumes)
        return None

    def _tried(self, step: Callable[[], object], failed: dict[str, Any]) -> None:
        """As Retry and Catch of the state machine have it."""
        for attempt in range(1, self.attempts + 1):
            try:
                step()
            except AGAIN as error:
                if attempt == self.attempts:
                    self._note(error, failed)
            except PlimsollError as error:
                self._note(error, failed)
                return
            else:
                return

    def _note(self, error: Exception, failed: dict[str, Any]) -> None:
        cause = json.dumps({"errorMessage": str(error), "errorType": type(error).__name__})
        noted = StepError(error=type(error).__name__, cause=cause)
        note_failure(self.service, FailureMessage(**failed, error=noted))

    def _items(self, key: str) -> list[Any]:
        return list(json.loads(self.service.store.get(key) or b"[]"))


def sweep(service: Service, *, everywhere: bool = False, name: str = "sweep") -> SweptAll:
    """One sweep, as its state machine does it."""
    planned = plan_sweep(service, SweepMessage(name=name, given=SweepInput(everywhere=everywhere)))
    for item in json.loads(service.store.get(planned.accounts_key) or b"[]"):
        sweep_account(service, SweepAccountMessage(sweep=name, account=item))
    return conclude_sweep(service, SweepEndMessage(sweep=name))


def files(service: Service, run_id: str) -> Path:
    """The folder of a run's report."""
    return Path(service.root) / "reports" / run_id


def records(folder: Path) -> dict[str, Any]:
    """A run's recommendations by volume."""
    return {one["volume_id"]: one for one in json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))}


def run_json(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "run.json").read_text(encoding="utf-8")))
