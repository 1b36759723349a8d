"""Every file of the corpus is read to its figures, and every trap ends as it must."""

from functools import cache

import pytest

from plimsoll.envelopes.admissibility import RULES
from tests.corpus import entries as corpus
from tests.corpus.__main__ import PAGE, put, tables
from tests.corpus.kinds import KINDS

ENTRIES = {entry.path.name: entry for entry in corpus.entries()}


@cache
def outcome(name):
    """What becomes of a file, which is read once for all tests."""
    return corpus.outcome(ENTRIES[name])


@pytest.mark.parametrize("name", ENTRIES)
def test_a_file_of_the_corpus_ends_as_it_must(name):
    assert list(outcome(name).wrong()) == []


def test_at_least_97_percent_of_the_files_with_a_result_are_imported():
    found = [outcome(name) for name, entry in ENTRIES.items() if entry.refused is None]
    assert sum(one.refusal is None for one in found) >= 0.97 * len(found)


def test_every_rule_is_met_by_a_file():
    met = {rule for name in ENTRIES for rule in outcome(name).rules} | {kind.rule for kind in KINDS if kind.meets}
    # What did no I/O at all is refused by the reader, so that this rule only meets campaigns written by hand.
    assert {rule.name for rule in RULES} - met == {"no-io"}
    assert "did no reads and no writes" in (outcome("cpuio.json").refusal or "")


def test_every_file_is_in_the_manifest():
    folder = next(iter(ENTRIES.values())).path.parent
    assert {path.name for path in folder.iterdir()} <= set(ENTRIES)


def test_the_page_has_the_tables_of_today():
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables([outcome(name) for name in ENTRIES]).items():
        assert text == put(text, name, table), "run python -m tests.corpus --write"
