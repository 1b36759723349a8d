"""Plans and rules as files. A plan's file holds its digest: one that was altered is refused."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plimsoll.files import parse_json, read_text
from plimsoll.model.errors import BadInput
from plimsoll.ports import FactStore
from plimsoll.yaml_text import parse_yaml
from plimsoll_change.plan import PLAN_FORMAT, ChangePlan
from plimsoll_change.rules import ChangeRules

PLAN_FILE: Final = "plan.json"

_Model = TypeVar("_Model")


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model | None, config=ConfigDict(extra="forbid"))


def _parse(model: type[_Model], plain: Any) -> _Model:
    wanted: Any = model
    parsed: _Model = _adapter(wanted).validate_python(plain)
    return parsed


def _digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a plan's plain values, in whichever order and layout a file has them."""
    plain = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def freeze_plan(plan: ChangePlan) -> tuple[ChangePlan, str]:
    """The plan with its digest, and the text of its file."""
    plain = _adapter(ChangePlan).dump_python(plan, mode="json")
    plain["digest"] = _digest_of(plain)
    return _parse(ChangePlan, plain), json.dumps(plain, indent=1) + "\n"


def keep_plan(store: FactStore, plan: ChangePlan) -> ChangePlan:
    """Writes a new plan, and gives it with its digest. Raises BadInput if there is one of that name."""
    frozen, text = freeze_plan(plan)
    if not store.put_new(f"{plan.id}/{PLAN_FILE}", text.encode()):
        raise BadInput(f"there is a plan {plan.id} already: a plan is never written over. Plan again in a second.")
    return frozen


def read_plan(store: FactStore, plan_id: str) -> ChangePlan:
    """The plan of that name. Raises BadInput if there is none, or it was altered."""
    content = store.get(f"{plan_id}/{PLAN_FILE}")
    if content is None:
        raise BadInput(f"there is no plan {plan_id}: make one of a run.")
    return parse_plan(content, plan_id)


def parse_plan(content: bytes, name: str) -> ChangePlan:
    """The plan in a file of that name. Raises BadInput if it was altered, or is none."""
    try:
        plain = parse_json(content)
        if not isinstance(plain, dict) or plain.get("format") != PLAN_FORMAT:
            raise BadInput(f"{name} is no plan of this version: make a new one with plimsoll change plan.")
        if plain.get("digest") != _digest_of(plain):
            raise BadInput(f"{name} was altered after it was made: nothing is done by it. Make a new plan.")
        return _parse(ChangePlan, plain)
    except ValueError as error:
        raise BadInput(f"{name} is damaged: nothing is done by it. Make a new plan.") from error


def load_rules(path: Path | None) -> ChangeRules:
    """The rules of a YAML file; the defaults if there is none. Raises BadInput, which names the key."""
    if path is None:
        return ChangeRules()
    try:
        return parse_rules(parse_yaml(read_text(path)) or {}, f"the rules {path}")
    except OSError as error:
        raise BadInput(f"the rules {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadInput(f"the rules {path} are not YAML: {error}".replace("\n", " ")) from error


def parse_rules(plain: Any, name: str) -> ChangeRules:
    """The rules in plain values. Raises BadInput, which names the key."""
    try:
        return _parse(ChangeRules, plain)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the whole"
        raise BadInput(f"{name}: {key}: {first['msg']}. docs/change.md lists the keys.") from error
