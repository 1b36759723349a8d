"""Documents: values that one process keeps for the next, each as JSON under a key of a store."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from plimsoll.model.errors import BadInput
from plimsoll.ports import RunStore

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class StoredDocument(Generic[ValueT]):
    """A value of one model under a key."""

    key: str
    model: type[ValueT]
    noun: str = "document"  # the name of the value in errors
    remedy: str = "the work of a run goes after a month; begin a new audit"

    def get(self, store: RunStore) -> ValueT | None:
        """The value as last kept. None if there is none. Raises BadInput if it cannot be read."""
        content = store.get(self.key)
        return None if content is None else self.parse(content)

    def find(self, store: RunStore) -> ValueT | None:
        """The value as last kept. None if there is none, or it cannot be read."""
        try:
            return self.get(store)
        except BadInput:
            return None

    def require(self, store: RunStore) -> ValueT:
        """The value as last kept. Raises BadInput if there is none, or it cannot be read."""
        content = store.get(self.key)
        if content is None:
            raise BadInput(f"there is no {self.noun} {self.key} in the store: {self.remedy}.")
        return self.parse(content)

    def put(self, store: RunStore, value: ValueT) -> ValueT:
        """Keeps a value in place of the earlier one."""
        store.put(self.key, self.dump(value))
        return value

    def delete(self, store: RunStore) -> None:
        """Keeps no value any more."""
        store.delete(self.key)

    def dump(self, value: ValueT) -> bytes:
        """The JSON of a value."""
        return self._adapter.dump_json(value)

    def parse(self, content: bytes) -> ValueT:
        """The value in JSON. Raises BadInput if it is none of the model: another version may have written it."""
        try:
            return self._adapter.validate_json(content)
        except ValidationError as error:
            fault = error.errors()[0]["msg"]
            raise BadInput(f"the {self.noun} {self.key} cannot be read ({fault}): {self.remedy}.") from error

    @property
    def _adapter(self) -> TypeAdapter[ValueT]:
        model: Any = self.model
        return _make_adapter(model)


@cache
def _make_adapter(model: Any) -> TypeAdapter[Any]:
    if isinstance(model, type) and issubclass(model, BaseModel):
        return TypeAdapter(model)
    # A type may publish no bound, and infinity is no null.
    return TypeAdapter(model | None, config=ConfigDict(ser_json_inf_nan="constants"))
