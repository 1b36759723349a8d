"""Gates of names and docstrings: rules 1 to 4 of the house's names."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.gates.library import trees, walk_docstrings, walk_functions

NO_NOUN = frozenset({"found", "one", "told", "some", "own", "there", "more", "rest", "given", "said"})
"""Local names for which the type has a noun."""
PARTICIPLE = re.compile(
    r"""[a-z]+ed|begun|bought|brought|built|done|drawn|found|given|gone|got|grown|had|heard|held|kept|known|laid|led|left
    |lost|made|meant|met|paid|said|seen|sent|shown|sold|spent|stood|struck|taken|thought|thrown|told|torn|understood|won
    |worn|written""",
    re.VERBOSE,
)
THIRD_PERSON = re.compile(
    r"""allows|answers|asks|begins|brings|carries|counts|costs|covers|ends|fits|gives|grows|has|holds|keeps|knows|leaves
    |lets|makes|matches|means|needs|passes|reads|rests|says|sees|settles|shows|speaks|stands|starts|takes|tells
    |throttles|touches|waits|writes""",
    re.VERBOSE,
)
NO_HEAD = frozenset(
    re.findall(
        r"[a-z]+",
        """about above after again against alike almost alone also always apart around at before behind below between
        beyond both by during each early ever every for here how in into never not of off on once only out over since so
        surely that then there these those together too under until up what when where which while who whole whose why
        within""",
    )
)
"""Adverbs, prepositions and pronouns: a name that is one, or begins with one, has neither verb nor noun at its head."""
DETERMINERS = frozenset({"all", "both", "each", "every", "on"})
"""Words of `NO_HEAD` that may stand before a noun, as in `each_page`, or before what a callback answers."""
TIMES = frozenset({"at", "on", "since"})
"""Words that make a time of a participle, as in `verified_on`."""
NO_PARTICIPLES = frozenset({"embed", "feed", "need", "seed", "speed"})
FORBIDDEN = re.compile(r"\b(so many|so much|such|those of|of which|likewise|at the most|for ever)\b", re.IGNORECASE)
NO_SUBJECT = re.compile(r"^(what|whether|how|where|as|those|these|it|they|that)\b", re.IGNORECASE)
MOST_WORDS = 20


def _public_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def public_names_in_two_modules() -> list[str]:
    """Public names that are defined in two modules or more, each with its files."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for name in sorted(set(_public_names(tree))):
            if not name.startswith("_"):
                places[name].append(path)
    return [f"{name}: {', '.join(files)}" for name, files in sorted(places.items()) if len(files) > 1]


def one_word_names_in_two_modules() -> list[str]:
    """Public names of one word that are defined in two modules or more."""
    return [line for line in public_names_in_two_modules() if _is_one_word(line.split(":")[0])]


def _is_one_word(name: str) -> bool:
    return "_" not in name and len(re.findall(r"[A-Z][a-z0-9]+", name)) <= 1


def functions_without_verb_or_noun() -> list[str]:
    """Functions and methods whose name is or begins with no verb and no noun: `told`, `stands`, `held_back`, `of`."""
    return sorted(f"{path}: {node.name}" for path, node in walk_functions() if _has_no_head(node.name.strip("_")))


def _has_no_head(name: str) -> bool:
    first, *others = name.split("_")
    if not others:
        return first in NO_HEAD or _is_participle(first) or bool(THIRD_PERSON.fullmatch(first))
    if _is_participle(first):
        return others[0] in NO_HEAD - TIMES
    return first in NO_HEAD - DETERMINERS


def _is_participle(word: str) -> bool:
    return word not in NO_PARTICIPLES and bool(PARTICIPLE.fullmatch(word))


def local_names_without_noun() -> list[str]:
    """Names of parameters and locals, once a function, that say nothing of what they are."""
    return sorted(
        f"{path}: {node.name}: {name}" for path, node in walk_functions() for name in sorted(_bound(node) & NO_NOUN)
    )


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def docstrings_against_the_rule() -> list[str]:
    """Docstrings whose first sentence has no subject, a forbidden phrase, or more than 20 words."""
    return sorted(
        f"{path}: {getattr(node, 'name', 'module')}: {first}"
        for path, node, text in walk_docstrings()
        if (first := _first_sentence(text)) and _breaks_the_rule(first)
    )


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[.:;?!])\s", paragraph)[0]


def _breaks_the_rule(sentence: str) -> bool:
    words = len(sentence.split())
    return words > MOST_WORDS or bool(FORBIDDEN.search(sentence) or NO_SUBJECT.match(sentence))
