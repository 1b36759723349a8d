"""What is kept of Slack in the store: who asked for a validation, and what of a run stands in a channel."""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.domain.errors import BadInput
from plimsoll.ports import RunStore
from plimsoll.service.layout import asked_key
from plimsoll.slack.actions.asked import Asked
from plimsoll.slack.notifications.ledger import Progress

_Kept = TypeVar("_Kept", bound=BaseModel)


def asked_for(execution: str, store: RunStore) -> Asked | None:
    """Who asked for an execution, None where nobody did in Slack; BadInput where what is kept is damaged."""
    key = asked_key(execution)
    kept = store.get(key)
    return None if kept is None else _read(Asked, kept, key)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLedger:
    """What of a run stands in a channel, under a key of its own; BadInput where it is damaged."""

    store: RunStore
    run_id: str
    channel: str

    def load(self) -> Progress:
        """What was kept last; an empty Progress where nothing was."""
        kept = self.store.get(self._key)
        return Progress() if kept is None else _read(Progress, kept, self._key)

    def keep(self, progress: Progress) -> None:
        """Keeps it in the place of what was known before."""
        self.store.put(self._key, progress.model_dump_json().encode())

    @property
    def _key(self) -> str:
        return f"slack/posted/{self.run_id}/{self.channel}.json"


def _read(kind: type[_Kept], content: bytes, key: str) -> _Kept:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise BadInput(f"{key} in the store is damaged: delete it there, and it is begun anew.") from error
