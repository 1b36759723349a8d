"""What a trap is worth, from `plimsoll envelopes import` to the recommendation: never grade A, and no migration."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from plimsoll.auditing.audit import run_audit
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.main import app
from plimsoll.decide.answer import Keep, Migrate
from plimsoll.decide.evidence import CODE
from plimsoll.model.policy import Grade
from plimsoll.outcomes import Answered
from tests.builders import NOW, TYPES, a_policy, a_volume
from tests.corpus.entries import FILES
from tests.profiles import examples
from tests.unit.envelopes.test_evidence import libraries

from .test_audit import HERE, a_world, steady

MINE = ("--as", "mine", "--account", HERE.account, "--region", HERE.region, "--measured-on", f"{NOW:%Y-%m-%d}")
GP3 = ("--type", "gp3", "--size-gib", "1000", "--iops", "3000", "--throughput-mib-s", "125")
SWEPT = ("--type", "gp3", "--size-gib", "1000", "--iops", "16000", "--throughput-mib-s", "1000")
POLICY = a_policy(lookback_days=2, require_evidence={"*": Grade.A})
AT_THE_EDGE = 1_700.0
"""IOPS that the sweep's best point alone has carried, headroom included."""
TRAPS = {
    "null-engine.json": "rejected (engine-without-device)",
    "buffered.json": "shown only (buffered)",
    "short-io.json": "shown only (lost-io)",
    "dropped-io.json": "unknown (lost-io)",
    "verify.json": "shown only (verify)",
    "verify.txt": "shown only (verify)",
    "sweep-edge.json": "unknown (sweep-edge)",
    "direct-unknown.json": "unknown (direct-unknown)",
    "loop.json": "rejected (no-volume)",
    "raid.json": "shown only (several-volumes)",
    "tmpfs.json": "rejected (too-quick)",
    "mmap.json": "rejected (engine-without-device)",
    "sysbench-05.txt": "shown only (buffered)",
    "status-interval.json": "unknown (short-run)",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_CAMPAIGNS_DIR", str(tmp_path / "measured"))
    return tmp_path / "measured"


def imported(name, bought=GP3):
    done = CliRunner().invoke(app, ["envelopes", "import", str(FILES / name), *MINE, *bought], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def answered(folder, iops=100.0):
    """The recommendation for a gp2 of 1,000 GiB that does so many IOPS, by nothing but what was imported."""
    library = envelope_library(folder)
    mine = [found for found in library.envelopes.values() if library.campaign_of(found.name).name == "mine"]
    return decided(mine, iops, POLICY)


def decided(envelopes, iops, policy):
    ports = replace(a_world([a_volume("gp2", 1_000)], {"vol-1": steady(iops)}), envelopes=tuple(envelopes))
    (found,) = [one for one in run_audit(ports, policy, NOW) if isinstance(one, Answered)]
    return found.recommendation


def test_an_honest_measurement_makes_grade_a_and_lets_the_migration_pass(folder):
    assert "counts" in imported("honest.json")
    found = answered(folder)
    assert isinstance(found, Migrate)
    assert (found.evidence.grade, found.blockers) == (Grade.A, ())


@pytest.mark.parametrize(("name", "verdict"), TRAPS.items(), ids=TRAPS)
def test_a_trap_is_named_at_once_and_never_makes_grade_a_nor_lets_a_migration_pass(folder, name, verdict):
    swept = name == "sweep-edge.json"
    output = imported(name, SWEPT if swept else GP3)
    assert f"- {verdict}: " in output
    found = answered(folder, iops=AT_THE_EDGE if swept else 100.0)
    assert isinstance(found, Migrate)
    assert found.evidence.grade < Grade.A
    assert "evidence" in {blocker.code for blocker in found.blockers}
    listed = CliRunner().invoke(app, ["envelopes", "list"], env={"COLUMNS": "200"}).output
    (line,) = [line for line in listed.splitlines() if line.split()[:1] == ["mine"] and "gp3" in line]
    assert swept or " A " not in line


def test_a_volume_that_fell_short_here_vetoes_what_a_campaign_elsewhere_let_pass(folder):
    easy = a_policy(lookback_days=2)
    shipped = list(envelope_library(None).envelopes.values())
    before = decided(shipped, 1_000.0, easy)
    assert (before.evidence.grade, before.blockers) == (Grade.B, ())
    imported("fell-short.json")
    after = decided(envelope_library(folder).envelopes.values(), 1_000.0, easy)
    assert isinstance(after, Keep)
    gp3 = after.comparison.offer("gp3")
    (source,) = [one.source for one in gp3.failed]
    assert gp3.spec.iops == 12_000  # 1,200 are needed
    assert source.startswith("your measurement of 20 November 2026 on gp3 1,000 GiB")
    assert source.endswith("mine.yaml")
    (reason,) = [text for text in after.reasons if CODE in text]
    assert "300 IOPS were all that a volume of 3,000 carried (your measurement of 20 November 2026" in reason
    assert "plimsoll validate" in reason


@given(libraries(), st.floats(10, 2_900))
@example([], 2_850.0)  # from 95 % of its ceiling on, a volume is relieved
@settings(max_examples=examples(40))
def test_what_is_imported_never_lowers_a_need_and_elsewhere_it_changes_no_target(library, iops):
    """The need may be known less exactly: which minutes are read depends on what the evidence holds."""
    without, with_it = (decided(envelopes, iops, POLICY) for envelopes in ((), library))
    if isinstance(with_it, Keep):
        assert with_it.comparison.offer("gp3").failed
        return
    if not with_it.target.failed:
        assert with_it.target.spec == without.target.spec
    if not any(one.provenance.region == HERE.region for envelope in library for one in envelope.measurements):
        assert with_it.target.ceiling == without.target.ceiling
    assert with_it.target.usd_month >= without.target.usd_month
    assert with_it.demand.least_peak_iops == without.demand.least_peak_iops
    published = TYPES[with_it.target.spec.type].ceiling(with_it.target.spec)
    assert with_it.target.ceiling.iops <= published.iops
    assert with_it.target.ceiling.throughput_mib_s <= published.throughput_mib_s
    for one in library:
        assert (one.iops or 0) <= one.published.iops
        assert (one.throughput_mib_s or 0) <= one.published.throughput_mib_s
