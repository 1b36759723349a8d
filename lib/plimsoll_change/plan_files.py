"""Plans and rules as files. A plan's file holds its digest: one that was altered is refused."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from plimsoll.files import parse_json, read_bytes, read_text, write_lines
from plimsoll.model.errors import BadInput
from plimsoll.yaml_text import parse_yaml
from plimsoll_change.plan import PLAN_FORMAT, ChangePlan, digest_of
from plimsoll_change.rules import ChangeRules

CHANGES_FOLDER: Final = "changes"
"""The folder of plans and ledgers, in the folder of runs."""

PLAN_FILE: Final = "plan.json"

_Model = TypeVar("_Model")


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model | None, config=ConfigDict(extra="forbid"))


def _parse(model: type[_Model], plain: Any) -> _Model:
    wanted: Any = model
    parsed: _Model = _adapter(wanted).validate_python(plain)
    return parsed


def freeze_plan(plan: ChangePlan) -> tuple[ChangePlan, str]:
    """The plan with its digest, and the text of its file."""
    plain = _adapter(ChangePlan).dump_python(plan, mode="json")
    plain["digest"] = digest_of(plain)
    return _parse(ChangePlan, plain), json.dumps(plain, indent=1) + "\n"


def write_plan(plan: ChangePlan, runs_dir: Path) -> tuple[ChangePlan, Path]:
    """Writes a new plan into its folder, and gives it with its digest. Raises BadInput if there is one of that name."""
    frozen, text = freeze_plan(plan)
    path = runs_dir / CHANGES_FOLDER / plan.id / PLAN_FILE
    if path.exists():
        raise BadInput(f"{path} is there already: a plan is never written over. Plan again in a second.")
    write_lines([text], path, "utf-8")
    return frozen, path


def read_plan(word: str | None, runs_dir: Path) -> ChangePlan:
    """The plan of a name or path; the newest if none is named. Raises BadInput if it was altered, or is none."""
    path = _path_of(word, runs_dir)
    try:
        content = read_bytes(path)
    except OSError as error:
        raise BadInput(f"there is no plan {path}: plimsoll change plan RUN makes one.") from error
    return parse_plan(content, str(path))


def read_plans(runs_dir: Path) -> Iterator[ChangePlan]:
    """The plans of this machine. Raises BadInput if one was altered: what it did would not be counted."""
    for path in sorted((runs_dir / CHANGES_FOLDER).glob(f"*/{PLAN_FILE}")):
        yield read_plan(str(path), runs_dir)


def parse_plan(content: bytes, name: str) -> ChangePlan:
    """The plan in a file of that name. Raises BadInput if it was altered, or is none."""
    try:
        plain = parse_json(content)
        if not isinstance(plain, dict) or plain.get("format") != PLAN_FORMAT:
            raise BadInput(f"{name} is no plan of this version: make a new one with plimsoll change plan.")
        if plain.get("digest") != digest_of(plain):
            raise BadInput(f"{name} was altered after it was made: nothing is done by it. Make a new plan.")
        return _parse(ChangePlan, plain)
    except ValueError as error:
        raise BadInput(f"{name} is damaged: nothing is done by it. Make a new plan.") from error


def _path_of(word: str | None, runs_dir: Path) -> Path:
    if word is not None:
        named = Path(word)
        if named.is_file():
            return named
        return (named if named.is_dir() else runs_dir / CHANGES_FOLDER / word) / PLAN_FILE
    plans = sorted((runs_dir / CHANGES_FOLDER).glob(f"*/{PLAN_FILE}"), key=lambda path: path.stat().st_mtime)
    if not plans:
        raise BadInput(f"there is no plan in {runs_dir / CHANGES_FOLDER}: plimsoll change plan RUN makes one.")
    return plans[-1]


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
