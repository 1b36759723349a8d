"""Tries mutants and prints which tests find each: `make mutants`, or `python -m tests.mutants --help`.

A mutant is one operator of Cosmic Ray at one place of the rule, in a copy of what is committed; each line that has any
is as likely as another. First the examples run, all of them, so that every one that finds the mutant is known. Where
any does, the others run until one fails. A run that was ended goes on where its file of results ends.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from typing import Final

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutants.found import FOUND_IN

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("lib/plimsoll/decide", "lib/plimsoll/demand")
_DOMAIN: Final = "tests/unit/domain"
EXAMPLES: Final = tuple(
    f"{_DOMAIN}/{name}.py"
    for name in (
        "test_decide",
        "test_history",
        "test_pools_in_part",
        "test_past_of_a_template",
        "groups/test_decide_stripes",
        "groups/test_decide_pools",
        "offers/test_offer",
        "offers/test_cheapest",
        "offers/test_safer",
        "refine/test_relief_on_hosts",
        "demand/test_saturation",
        "demand/test_lifting",
    )
)
"""The tests that are judged: what is answered, as examples of their own."""
OTHERS: Final = (_DOMAIN, "tests/scenes")
"""The tests beside them: properties, units, and the scenes that run against the rule and against the oracle."""
_PLAUSIBLE: Final = re.compile(
    r"core/(NumberReplacer|AddNot|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr|ReplaceOrWithAnd"
    r"|ReplaceContinueWithBreak|ReplaceBreakWithContinue|ZeroIterationForLoop|ReplaceUnaryOperator_\w+"
    r"|ReplaceComparisonOperator_((Lt|LtE|Gt|GtE)_(Lt|LtE|Gt|GtE)|Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is)"
    r"|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul))"
)
"""The operators whose faults a person could make. Others end in a TypeError, which any test that comes there finds."""
_DECLARES: Final = ("@dataclass(", "field(")
"""Marks of a line that declares fields: its flags are no behavior of a rule."""
_TIMEOUT_S: Final = 300.0
_PASSED, _FAILED, _NO_CONFTEST = 0, (1, 2), 4


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: an operator, and the number of its place among those of a file."""

    path: str
    operator: str
    occurrence: int
    line: int


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant, every example that finds it, and, where one does, the first of the other tests that finds it too."""

    mutant: Mutant
    examples: tuple[str, ...]
    others: tuple[str, ...]


def list_mutants(rooms: Sequence[str]) -> Iterator[Mutant]:
    """Yields every mutant of every file of the rooms."""
    operators = [(name, get_operator(name)()) for name in sorted(operator_names()) if _PLAUSIBLE.fullmatch(name)]
    for path in sorted(file for room in rooms for file in (ROOT / room).rglob("*.py")):
        nodes, lines = list(ast_nodes(get_ast_from_path(path))), path.read_text(encoding="utf-8").splitlines()
        for name, operator in operators:
            places = (start for node in nodes for start, _ in operator.mutation_positions(node))
            for occurrence, start in enumerate(places):
                if not any(word in lines[start[0] - 1] for word in _DECLARES):
                    yield Mutant(str(path.relative_to(ROOT)), name, occurrence, start[0])


def draw_mutants(rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Draws mutants by chance: one of each of some lines."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for mutant in list_mutants(rooms):
        by_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    chance = random.Random(seed)
    lines = chance.sample(sorted(by_line), min(count, len(by_line)))
    return [chance.choice(by_line[line]) for line in lines]


def find_failing(copy: Path, paths: Sequence[str], *more: str) -> tuple[str, ...]:
    """Runs some tests in a copy, and gives those that fail, or that they do not end or begin.

    Raises RuntimeError if the run itself broke, such as one that was killed: that finds nothing.
    """
    found_in = copy / "build" / "found"
    found_in.parent.mkdir(exist_ok=True)
    found_in.write_text("")
    command = [sys.executable, "-m", "pytest", *paths, *more, "-q", "-n", "0", "-p", "no:cacheprovider"]
    env = {**os.environ, "PYTHONPATH": f"{copy / 'lib'}:{copy}", FOUND_IN: str(found_in)}
    try:
        done = subprocess.run(
            [*command, "-p", "tests.mutants.found"],
            check=False,
            cwd=copy,
            env=env,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return ("does not end",)
    failing = tuple(dict.fromkeys(found_in.read_text(encoding="utf-8").splitlines()))
    if done.returncode == _NO_CONFTEST:
        return ("does not begin",)
    if done.returncode not in (_PASSED, *_FAILED) or bool(failing) != (done.returncode != _PASSED):
        raise RuntimeError(f"pytest ended with {done.returncode}, {len(failing)} tests named:\n{done.stdout[-2000:]}")
    return failing


def try_mutant(copy: Path, mutant: Mutant) -> Tried:
    """Finds the tests that find a mutant, in a copy that is as before when this returns."""
    with use_mutation(copy / mutant.path, get_operator(mutant.operator)(), mutant.occurrence):
        found = find_failing(copy, EXAMPLES)
        return Tried(mutant, examples=found, others=_find_other(copy) if found else ())


def _find_other(copy: Path) -> tuple[str, ...]:
    return find_failing(copy, OTHERS, "-x", *(f"--ignore={path}" for path in EXAMPLES))


def try_all(mutants: Sequence[Mutant], out: Path, jobs: int) -> None:
    """Tries the mutants that the file of results has no line of yet, and writes a line for each.

    Raises AssertionError if a test fails without any.
    """
    known = {tried.mutant for tried in read_results(out)}
    with tempfile.TemporaryDirectory() as folder, out.open("a", buffering=1, encoding="utf-8") as results:
        copies = Queue[Path]()
        for number in range(jobs):
            copy = Path(folder) / str(number)
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)
            copies.put(copy)
        if not known:
            assert not (failing := find_failing(copy, EXAMPLES) + _find_other(copy)), failing

        def write_tried(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                results.write(f"{json.dumps(asdict(try_mutant(copy, mutant)))}\n")
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(write_tried, [mutant for mutant in mutants if mutant not in known]))


def read_results(out: Path) -> list[Tried]:
    """Reads what is known of the mutants that were tried."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [
        Tried(Mutant(**told["mutant"]), examples=tuple(told["examples"]), others=tuple(told["others"]))
        for told in map(json.loads, lines)
    ]


def describe_score(results: Sequence[Tried]) -> Iterator[str]:
    """Yields how many mutants the examples find, those that they alone find, and the examples that find none alone."""
    found = [tried for tried in results if tried.examples]
    alone = [tried for tried in found if not tried.others]
    needed = {name for tried in alone for name in tried.examples}
    seen = {name for tried in found for name in tried.examples}
    yield f"{len(results):5} mutants"
    yield f"{len(found):5} found by the examples"
    yield f"{len(found) - len(alone):5} of these found by the others too"
    yield f"{len(alone):5} found by examples alone"
    for tried in alone:
        yield from (_place(tried.mutant), *(f"      {name}" for name in tried.examples))
    yield f"{len(seen - needed):5} examples that find mutants, and none that the others do not"
    yield from (f"      {name}" for name in sorted(seen - needed))


def _place(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line} {mutant.operator.removeprefix('core/')}, place {mutant.occurrence}"


def main() -> None:
    """Draws mutants, tries each, and prints the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    asked = parser.parse_args()
    asked.out.parent.mkdir(exist_ok=True)
    try_all(draw_mutants(ROOMS, asked.mutants, asked.seed), asked.out, asked.jobs)
    sys.stdout.writelines(f"{line}\n" for line in describe_score(read_results(asked.out)))


if __name__ == "__main__":
    main()
