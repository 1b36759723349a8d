"""What a trap is worth, from `plimsoll envelopes import` to the recommendation: never grade A, and no migration."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from plimsoll.audit import audit
from plimsoll.bootstrap import envelope_library
from plimsoll.cli.main import app
from plimsoll.domain.evidence import Grade
from plimsoll.domain.recommendation import Migrate
from plimsoll.outcomes import Answered
from tests.builders import NOW, a_policy, a_volume
from tests.corpus.entries import FILES

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
    ports = a_world([a_volume("gp2", 1_000)], {"vol-1": steady(iops)})
    library = envelope_library(folder)
    mine = [found for found in library.envelopes.values() if library.campaign_of(found.name).name == "mine"]
    (found,) = [one for one in audit(replace(ports, envelopes=tuple(mine)), POLICY, NOW) if isinstance(one, Answered)]
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
