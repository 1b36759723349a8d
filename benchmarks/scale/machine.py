"""A state machine carried out by its definition, as far as the audit's has states: of Amazon's States Language.

What would wait, between retries or in a Wait state, does not wait here: it is counted.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

Invoke = Callable[[str, Any], Any]
"""Calls a function by its ARN with an event, and gives its answer; raises `Failed`."""

ALL: Final = "States.ALL"
_PART: Final = re.compile(r"\.([^.]+)")


class Failed(Exception):
    """A state failed, by the name of its error."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(f"{error}: {cause}")
        self.error, self.cause = error, cause


@dataclass(slots=True, kw_only=True)
class Machine:
    """One execution: `invoke` calls functions, `content` reads an object, `at_once` items of a map are under way."""

    definition: Mapping[str, Any]
    invoke: Invoke
    content: Callable[[str], bytes]
    execution: Mapping[str, Any]
    at_once: int
    entered: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)

    def run(self) -> Any:
        """The output of the whole; `Failed` where a state fails for good."""
        return self._states(self.definition, self.execution["Input"], {"Execution": self.execution})

    def _states(self, part: Mapping[str, Any], given: Any, context: Mapping[str, Any]) -> Any:
        name: str | None = part["StartAt"]
        while name is not None:
            state = part["States"][name]
            self.entered[name] += 1
            try:
                given, name = self._state(name, state, given, context)
            except Failed as failed:
                caught = next((one for one in state.get("Catch", ()) if _meant(one, failed)), None)
                if caught is None:
                    raise
                self.caught[f"{name}: {failed}"] += 1
                told = {"Error": failed.error, "Cause": failed.cause}
                given, name = _put(given, caught.get("ResultPath", "$"), told), caught["Next"]
        return given

    def _state(
        self, name: str, state: Mapping[str, Any], given: Any, context: Mapping[str, Any]
    ) -> tuple[Any, str | None]:
        """What a state puts out, and the next one."""
        following = state.get("Next")
        match state["Type"]:
            case "Task":
                return self._task(name, state, given, context), following
            case "Map":
                self._map(state, given, context)
                return given, following
            case "Choice":
                return given, _chosen(state, given)
            case "Pass":
                return state.get("Result", given), following
            case "Wait" | "Succeed":
                return given, following
            case "Fail":
                raise Failed(state["Error"], str(state.get("CausePath", state.get("Cause", ""))))
            case kind:
                raise NotImplementedError(f"{kind}: teach benchmarks/scale/machine.py to carry it out.")

    def _task(self, name: str, state: Mapping[str, Any], given: Any, context: Mapping[str, Any]) -> Any:
        asked = _filled(state["Parameters"], given, context)
        left = Counter({number: one["MaxAttempts"] for number, one in enumerate(state.get("Retry", ()))})
        while True:
            try:
                result: Any = {"Payload": self.invoke(asked["FunctionName"], asked["Payload"])}
                break
            except Failed as failed:
                retry = next((number for number, one in enumerate(state.get("Retry", ())) if _meant(one, failed)), None)
                if retry is None or not left[retry]:
                    raise
                left[retry] -= 1
                self.retried[f"{name}: {failed}"] += 1
        if "ResultSelector" in state:
            result = _filled(state["ResultSelector"], result, context)
        out = _put(given, state.get("ResultPath", "$"), result)
        return _at(state.get("OutputPath", "$"), out, context)

    def _map(self, state: Mapping[str, Any], given: Any, context: Mapping[str, Any]) -> None:
        """Carries out every item of the list in the bucket; what each puts out is discarded, as the definition says."""
        asked = _filled(state["ItemReader"]["Parameters"], given, context)
        items: Sequence[Any] = json.loads(self.content(asked["Key"]))

        def one(item: Any) -> bool:
            selected = _filled(state["ItemSelector"], given, {**context, "Map": {"Item": {"Value": item}}})
            try:
                self._states(state["ItemProcessor"], selected, context)
            except Failed as failed:
                self.caught[f"an item: {failed}"] += 1
                return False
            return True

        pool = ThreadPoolExecutor(min(self.at_once, state["MaxConcurrency"]))
        try:
            failed = sum(not done for done in pool.map(one, items))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        if failed and 100 * failed > state.get("ToleratedFailurePercentage", 0) * len(items):
            raise Failed("States.ExceedToleratedFailureThreshold", f"{failed} of {len(items)} items failed")


def _meant(handler: Mapping[str, Any], failed: Failed) -> bool:
    return bool({ALL, failed.error}.intersection(handler["ErrorEquals"]))


def _chosen(state: Mapping[str, Any], given: Any) -> str:
    for choice in state["Choices"]:
        found = _at(choice["Variable"], given, {})
        said = found == choice["StringEquals"] if "StringEquals" in choice else found > choice["NumericGreaterThan"]
        if said:
            return str(choice["Next"])
    return str(state["Default"])


def _filled(template: Any, given: Any, context: Mapping[str, Any]) -> Any:
    """A template with what its paths lead to."""
    if not isinstance(template, Mapping):
        return template
    return dict(_fields(template, given, context))


def _fields(template: Mapping[str, Any], given: Any, context: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in template.items():
        if key.endswith(".$"):
            yield key.removesuffix(".$"), _at(value, given, context)
        else:
            yield key, _filled(value, given, context)


def _at(path: str, given: Any, context: Mapping[str, Any]) -> Any:
    """What a path leads to, `$` into what is given and `$$` into the context."""
    found = context if path.startswith("$$") else given
    for part in _PART.findall(path):
        found = found[part]
    return found


def _put(given: Any, path: str | None, result: Any) -> Any:
    """What is given, with a result at a path; None: without it."""
    if path is None:
        return given
    return result if path == "$" else {**given, path.removeprefix("$."): result}
