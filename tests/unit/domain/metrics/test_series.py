"""Series stand in one table: the rest of the domain goes by their groups and roles."""

import ast
from pathlib import Path

import plimsoll
from plimsoll.model.series import EVERY_MINUTE, HIGHEST, HOST, NAMES, SERIES, Role, names_with

LIBRARY = Path(plimsoll.__path__[0])
ROOMS = ("model", "reading", "demand", "past", "risk", "decide", "refine", "measure")
NAMING = {"model/series.py", "reading/signals.py"}
"""The table, and what is shown of each signal by its name."""


def test_no_other_module_of_the_domain_names_a_series():
    naming = set()
    for path in (path for room in ROOMS for path in (LIBRARY / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in SERIES:
                naming.add(str(path.relative_to(LIBRARY)))
    assert naming <= NAMING


def test_what_a_decision_rests_on_is_read_in_one_group_beside_those_that_only_look():
    deciding = (*EVERY_MINUTE, *HIGHEST.values(), *HOST)
    for name in names_with(*(role for role in Role if role not in {Role.QUEUE, Role.SIGNAL})):
        assert sum(name in NAMES[group] for group in deciding) == 1
