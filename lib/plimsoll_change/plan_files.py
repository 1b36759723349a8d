"""Plans and rules as files. A plan's file holds its digest: one that was altered is refused."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plimsoll.files import parse_json, read_text
from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import BadInput
from plimsoll.ports import FactStore
from plimsoll.yaml_text import parse_yaml
from plimsoll_change.plan import PLAN_FORMAT, ChangePlan
from plimsoll_change.rules import ChangeRules

PLAN_FILE: Final = "plan.json"
_PLAN: Final = StoredDocument(PLAN_FILE, ChangePlan, "plan", "make a new one")


def _digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a plan's plain values, in whichever order and layout a file has them."""
    plain = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def freeze_plan(plan: ChangePlan) -> tuple[ChangePlan, bytes]:
    """The plan with its digest, and the content of its file."""
    plain = parse_json(_PLAN.dump(plan))
    content = json.dumps({**plain, "digest": _digest_of(plain)}, indent=1).encode()
    return _PLAN.parse(content), content


def keep_plan(store: FactStore, plan: ChangePlan) -> ChangePlan:
    """Writes a new plan, and gives it with its digest. Raises BadInput if there is one of that name."""
    frozen, content = freeze_plan(plan)
    if not store.put_new(f"{plan.id}/{PLAN_FILE}", content):
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
    except ValueError as error:
        raise BadInput(f"{name} is damaged: nothing is done by it. Make a new plan.") from error
    if not isinstance(plain, dict) or plain.get("format") != PLAN_FORMAT:
        raise BadInput(f"{name} is no plan of this version: make a new one with plimsoll change plan.")
    if plain.get("digest") != _digest_of(plain):
        raise BadInput(f"{name} was altered after it was made: nothing is done by it. Make a new plan.")
    return _PLAN.parse(content)


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
        rules: ChangeRules = _make_checker().validate_python(plain)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the whole"
        raise BadInput(f"{name}: {key} is {first['input']!r:.80}: {first['msg']}. See docs/change.md.") from error
    return rules


@cache
def _make_checker() -> TypeAdapter[Any]:
    return TypeAdapter(ChangeRules | None, config=ConfigDict(extra="forbid"))
