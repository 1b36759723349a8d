"""The gates: what each counts, and the figure that it may not pass."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.docs.walks import files_naming
from tests.gates.imports import longest_chain, modules_behind, most_own_imports
from tests.gates.library import LIBRARY, find_files
from tests.gates.names import (
    docstrings_against_the_rule,
    functions_without_verb_or_noun,
    local_names_without_noun,
    one_word_names_in_two_modules,
    public_names_in_two_modules,
)
from tests.gates.trace import files_of_a_volume

FIGURES: Final = Path(__file__).with_name("figures.yaml")
KIND: Final = re.compile(r"\bDetached\b|\bDETACHED\b|[\"']detached[\"']")
"""An answer's kind, as code names it."""

NO_KIND: Final = frozenset({"plimsoll/clouds/aws/ec2_fields.py"})
"""The files in which it is no answer's kind: EC2 has the word for the state of an attachment."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure that may only go down: what is counted, and the list of it."""

    name: str
    counts: str
    found: Callable[[], Sequence[str]]


def files_of_a_kind() -> list[str]:
    """The files that name the kind of answer `detached`."""
    paths = find_files(".py", ".js", ".j2", ".yaml")
    files = [str(path.relative_to(LIBRARY)) for path in paths if KIND.search(path.read_text(encoding="utf-8"))]
    return [file for file in files if file not in NO_KIND]


GATES: Final = (
    Gate("one-word-names-twice", "public names of one word in two modules", one_word_names_in_two_modules),
    Gate("names-twice", "public names in two modules", public_names_in_two_modules),
    Gate("bare-names", "functions whose name has neither verb nor noun at its head", functions_without_verb_or_noun),
    Gate("bare-locals", "local names that say nothing, once a function", local_names_without_noun),
    Gate("docstrings", "docstrings whose first sentence is against rule 4", docstrings_against_the_rule),
    Gate("own-imports", "modules of the library that one module imports", most_own_imports),
    Gate("import-chain", "modules of the longest chain of imports", longest_chain),
    Gate("behind-audit", "modules behind the command audit", lambda: modules_behind("plimsoll.cli.audit")),
    Gate("behind-decide", "modules behind a decision", lambda: modules_behind("plimsoll.decide.decide")),
    Gate("traced-volume", "files from a volume's metrics to its page", files_of_a_volume),
    Gate("series", "files that know a series, throughput_exceeded", lambda: files_naming("throughput_exceeded", "lib")),
    Gate("kind", "files that know a kind of answer, detached", files_of_a_kind),
    Gate("policy-key", "files that know a policy key, headroom_pct", lambda: files_naming("headroom_pct", "lib")),
)


def read_figures() -> dict[str, int]:
    """The figure that each gate has."""
    figures: dict[str, int] = yaml.safe_load(FIGURES.read_text(encoding="utf-8"))
    return figures


def write_figures() -> None:
    """Writes today's figures."""
    lines = [f"{gate.name}: {len(gate.found())}  # {gate.counts}\n" for gate in GATES]
    FIGURES.write_text("# `python -m tests.gates --write` writes these: each may only go down.\n" + "".join(lines))
