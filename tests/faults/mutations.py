"""Mutations: what can be wrong inside an answer that arrives whole. Each changes one place of the decoded answer."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cloud_simulator.aws.organization import ACCOUNTS

from .places import EACH, Path

_NAMES_A_STATE = re.compile(r"(?i)(status|state|type|mode|tier|code|name|valueType|metricKind)$")
_NAMES_A_THING = re.compile(r"(?i)(id|ids|arn|selfLink|name|users|source|target)$")


@dataclass(frozen=True, slots=True)
class Mutation:
    """Whether a field can be wrong in this way, and making it so."""

    fits: Callable[[Path, Any, Any], bool]
    apply: Callable[[Any, Any, random.Random], None]


def number_in(value: Any) -> float | None:
    """The number that a value is, or that its text says; None for any other."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,15}(\.\d+)?", value):
        return float(value)
    return None


def _is_number(_path: Path, value: Any, _container: Any) -> bool:
    return number_in(value) is not None


def _is_field(path: Path, _value: Any, _container: Any) -> bool:
    return path[-1] != EACH


def _is_list(_path: Path, value: Any, _container: Any) -> bool:
    return isinstance(value, list) and len(value) > 0


def _is_long(_path: Path, value: Any, _container: Any) -> bool:
    return isinstance(value, list) and len(value) > 1


def _is_item(path: Path, value: Any, _container: Any) -> bool:
    return path[-1] == EACH and isinstance(value, dict)


def _is_state(path: Path, value: Any, _container: Any) -> bool:
    return isinstance(value, str) and number_in(value) is None and bool(_NAMES_A_STATE.search(_named(path)))


def _is_id(path: Path, value: Any, _container: Any) -> bool:
    return isinstance(value, str) and names_a_thing(path)


def names_a_thing(path: Path) -> bool:
    """Whether a field holds the name of a thing, such as its id."""
    return bool(_NAMES_A_THING.search(_named(path)))


def _has_twins(_path: Path, value: Any, _container: Any) -> bool:
    """Whether it holds two lists of one length, such as timestamps with values."""
    lengths = [len(one) for one in value.values() if isinstance(one, list)] if isinstance(value, dict) else []
    return len(lengths) > 1 and len(set(lengths)) == 1 and lengths[0] > 1


def _named(path: Path) -> str:
    return next((part for part in reversed(path) if part != EACH), "")


def _put(value: Callable[[Any, random.Random], Any]) -> Callable[[Any, Any, random.Random], None]:
    def apply(container: Any, key: Any, rng: random.Random) -> None:
        container[key] = value(container[key], rng)

    return apply


def _names_an_account(_path: Path, value: Any, _container: Any) -> bool:
    return isinstance(value, str) and bool(re.search(r"(?<!\d)\d{12}(?!\d)", value)) and ACCOUNTS[0] not in value


def _long_ago(_value: Any, _rng: random.Random) -> str:
    return "2020-01-01T00:00:00Z"


def _as_text(value: Any, number: float) -> Any:
    """A number in the form that the value has."""
    whole: float | int = int(number) if math.isfinite(number) and number == int(number) else number
    return str(whole) if isinstance(value, str) else whole


def _delete(container: Any, key: Any, _rng: random.Random) -> None:
    del container[key]


def _other_type(value: Any, _rng: random.Random) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        return {"0": value[0]} if value else {}
    if isinstance(value, str) and number_in(value) is None:
        return 17
    return "a text"


def _twins(value: dict[str, Any]) -> list[list[Any]]:
    return [one for one in value.values() if isinstance(one, list)]


def _unequal(container: Any, key: Any, rng: random.Random) -> None:
    shorter = rng.choice(_twins(container[key]))
    del shorter[-max(1, len(shorter) // rng.choice((2, 8, 10_000))) :]


def _silent(container: Any, key: Any, _rng: random.Random) -> None:
    for one in _twins(container[key]):
        one.clear()


def _half(container: Any, key: Any, rng: random.Random) -> None:
    """Drops one half of the points, and says no word of it."""
    twins = _twins(container[key])
    middle = len(twins[0]) // 2
    lost = slice(0, middle) if rng.random() < 0.5 else slice(middle, None)
    for one in twins:
        del one[lost]


def _in_order(change: Callable[[list[int], random.Random], list[int]]) -> Callable[[Any, Any, random.Random], None]:
    """Puts the points of all twins in another order together."""

    def apply(container: Any, key: Any, rng: random.Random) -> None:
        twins = _twins(container[key])
        order = change(list(range(len(twins[0]))), rng)
        for one in twins:
            one[:] = [one[index] for index in order]

    return apply


def _shuffled(order: list[Any], rng: random.Random) -> list[Any]:
    return rng.sample(order, len(order))


def _reorder(container: Any, key: Any, rng: random.Random) -> None:
    container[key][:] = _shuffled(container[key], rng)


def _repeat(container: Any, key: Any, rng: random.Random) -> None:
    values = container[key]
    values.insert(rng.randrange(len(values) + 1), rng.choice(values))


def _empty(container: Any, key: Any, _rng: random.Random) -> None:
    container[key].clear()


def _lose(container: Any, key: Any, rng: random.Random) -> None:
    del container[key][rng.randrange(len(container[key]))]


MUTATIONS: dict[str, Mutation] = {
    "null": Mutation(lambda _path, value, _container: value is not None, _put(lambda _value, _rng: None)),
    "absent": Mutation(_is_field, _delete),
    "wrong-type": Mutation(lambda _path, value, _container: value is not None, _put(_other_type)),
    "empty-text": Mutation(
        lambda _path, value, _container: isinstance(value, str) and value != "", _put(lambda _value, _rng: "")
    ),
    "negative": Mutation(_is_number, _put(lambda value, _rng: _as_text(value, -abs(number_in(value) or 0) - 1))),
    "zero": Mutation(
        lambda path, value, _container: bool(number_in(value)) and path[-1] != EACH,
        _put(lambda value, _rng: _as_text(value, 0.0)),
    ),
    "huge": Mutation(_is_number, _put(lambda value, _rng: _as_text(value, 1e18))),
    "nan": Mutation(_is_number, _put(lambda value, _rng: _as_text(value, math.nan))),
    "infinite": Mutation(_is_number, _put(lambda value, _rng: _as_text(value, math.inf))),
    "nested": Mutation(lambda _path, value, _container: value is not None, _put(lambda value, _rng: [value])),
    "truth-value": Mutation(_is_number, _put(lambda _value, _rng: True)),
    "own-account": Mutation(_names_an_account, _put(lambda value, _rng: re.sub(r"\d{12}", ACCOUNTS[0], value))),
    "expired": Mutation(lambda path, _value, _container: path[-1] == "Expiration", _put(_long_ago)),
    "new-value": Mutation(_is_state, _put(lambda _value, _rng: "quantum")),
    "unknown-id": Mutation(_is_id, _put(lambda value, _rng: f"{value[:-4]}fa17")),
    "empty-list": Mutation(_is_list, _empty),
    "item-lost": Mutation(_is_long, _lose),
    "item-twice": Mutation(_is_list, _repeat),
    "unsorted": Mutation(_is_long, _reorder),
    "unequal-lists": Mutation(_has_twins, _unequal),
    "silent": Mutation(_has_twins, _silent),
    "half-lost": Mutation(_has_twins, _half),
    "points-unsorted": Mutation(_has_twins, _in_order(_shuffled)),
    "points-twice": Mutation(_has_twins, _in_order(lambda order, rng: [*order, *rng.sample(order, len(order) // 2)])),
}
"""By what the fault is called."""


def same_id(container: Any, key: Any, others: list[str], rng: random.Random) -> None:
    """Gives a thing the id of another one of its list."""
    different = [other for other in others if other != container[key]]
    if different:
        container[key] = rng.choice(different)
