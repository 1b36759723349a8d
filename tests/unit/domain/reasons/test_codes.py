"""Reasons have codes, so that no code asks how a sentence begins, ends or what stands in it."""

import ast
import re

from tests.gates.library import trees

SENTENCES = re.compile(r"\b(reasons?|whys?|sentences?|blockers?|notices?)\b")
ASKING = {"startswith", "endswith", "removeprefix", "find", "index", "search", "match"}


def questions(tree):
    """What code asks of a sentence's wording: `reason.startswith(...)`, and `"..." in reason`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING:
            asked = node.func.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn) and _is_text(node.left):
            asked = node.comparators[0]
        else:
            continue
        if isinstance(asked, ast.Name | ast.Attribute) and SENTENCES.search(ast.unparse(asked)):
            yield ast.unparse(node)


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_no_code_asks_how_a_sentence_begins():
    rooms = ("domain", "reports", "service", "slack", "validation", "auditing", "serving", "cli", "api")
    asked = {
        f"{path}: {question}"
        for path, tree in trees().items()
        if path.split("/")[1] in rooms
        for question in questions(tree)
    }
    assert asked == set()


def test_such_a_question_is_seen():
    asked = "reason.startswith('gives up')", "'gives up' in found.reason", "record.reasons[0]"
    assert [list(questions(ast.parse(text))) != [] for text in asked] == [True, True, False]
