"""Each rule is met by the files of its kind, and by none that only looks so."""

from datetime import date

import pytest

from plimsoll.decide.evidence import Place, best_grade, failed_measurements
from plimsoll.envelopes import library
from plimsoll.envelopes.admissibility import arithmetic
from tests.corpus.entries import Entry, imported
from tests.corpus.kinds import KINDS

TODAY = date(2026, 11, 26)
OWN = {"account": "111122223333", "region": "us-east-1"}
PLACE = Place(provider="aws", today=TODAY, max_age_days=180, **OWN)


@pytest.fixture(scope="module", autouse=True)
def _no_shipped_campaigns(tmp_path_factory):
    """No name is taken: reading all campaigns again for each file would take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        empty = tmp_path_factory.mktemp("none")
        patch.setattr(library, "shipped_campaigns", lambda: empty)
        yield


def of(kind):
    """What becomes of a made file, imported as a gp3 of 3,000 IOPS of this account on a large host."""
    options = {"iops": 3_000, "throughput_mib_s": 125, "host_type": "m5.4xlarge", **kind.spec}
    return imported(Entry(file=kind.name, source="made", options=options), kind.output, imported_on=TODAY, **OWN)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.rule}: {kind.name}")
def test_a_made_file_ends_as_its_kind(kind):
    outcome = of(kind)
    assert outcome.refusal is None
    assert (kind.rule in outcome.rules) == kind.meets
    assert outcome.verdict == kind.verdict
    assert best_grade(outcome.envelope, TODAY, 180).name == kind.grade
    assert bool(failed_measurements(PLACE, [outcome.envelope], [])) == kind.against


def test_every_rule_of_arithmetic_has_files_that_meet_it_and_files_that_only_look_so():
    for meets in (True, False):
        assert {rule.name for rule in arithmetic.ARITHMETIC_RULES} <= {
            kind.rule for kind in KINDS if kind.meets == meets
        }
