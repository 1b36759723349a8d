"""Remembered: values under keys, the least lately used forgotten when all together grow too large."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(slots=True)
class Remembered(Generic[Key, Value]):
    """A cache of at most `budget_bytes`, by the sizes that are given with the values; for any number of threads."""

    budget_bytes: int
    used_bytes: int = 0
    _kept: OrderedDict[Key, tuple[Value, int]] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self, key: Key) -> Value | None:
        """What was put there last, if it is still remembered."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size_bytes: int) -> None:
        """Remembers a value; one that is larger than the budget is not."""
        with self._lock:
            _, before_bytes = self._kept.pop(key, (None, 0))
            self.used_bytes -= before_bytes
            if size_bytes > self.budget_bytes:
                return
            self._kept[key] = value, size_bytes
            self.used_bytes += size_bytes
            while self.used_bytes > self.budget_bytes:
                _, (_, gone_bytes) = self._kept.popitem(last=False)
                self.used_bytes -= gone_bytes
