"""Documents: values that one process keeps for the next, each as JSON under a key of a store."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from plimsoll.files import make_folder
from plimsoll.model.errors import BadInput
from plimsoll.ports import RunStore

ValueT = TypeVar("ValueT")

RUN_REMEDY: Final = "the work of a run goes after a month; begin a new audit"


@dataclass(frozen=True, slots=True)
class StoredDocument(Generic[ValueT]):
    """A value of one model under a key."""

    key: str
    model: type[ValueT]
    noun: str = "document"  # the name of the value in errors
    remedy: str = RUN_REMEDY

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
            raise _gone_error(self.key, self.noun, self.remedy)
        return self.parse(content)

    def put(self, store: RunStore, value: ValueT) -> ValueT:
        """Keeps a value in place of the earlier one."""
        store.put(self.key, self.dump(value))
        return value

    def delete(self, store: RunStore) -> None:
        store.delete(self.key)

    def dump(self, value: ValueT) -> bytes:
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


def require_content(store: RunStore, key: str) -> bytes:
    """The content of a file that one part of a run keeps for another. Raises BadInput if it is gone."""
    content = store.get(key)
    if content is None:
        raise _gone_error(key)
    return content


def require_file(store: RunStore, key: str, path: Path) -> None:
    """Copies the content of a key into a file. Raises BadInput if it is gone."""
    make_folder(path.parent)
    if not store.get_file(key, path):
        raise _gone_error(key)


def _gone_error(key: str, noun: str = "file", remedy: str = RUN_REMEDY) -> BadInput:
    return BadInput(f"there is no {noun} {key} in the store: {remedy}.")
