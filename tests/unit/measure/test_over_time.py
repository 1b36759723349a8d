"""What time series say of what lasts: fio's logs and snapshots, and sysbench's reports, from the import on."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.main import app
from plimsoll.decide.evidence import Place, evidence_for
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Grade
from plimsoll_measure.readers.reading import read_output
from tests.builders import TYPES, a_spec
from tests.corpus.entries import FILES
from tests.unit.envelopes.test_levels import made
from tests.unit.measure.readers.outputs import a_job, a_side, fio_json

GP2 = ["--type", "gp2", "--size-gib", "100"]
HERE = ["--account", "111122223333", "--region", "us-east-1", "--measured-on", "2026-11-20"]
LARGE = ["--host-type", "m5.4xlarge"]
CREDITS = 5_400_000
"""Of a gp2 of 100 GiB: 3,000 IOPS for half an hour, 300 without them."""
EMPTY_S = CREDITS / (3_000 - 300)
IOPS = Resource.IOPS


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PLIMSOLL_CAMPAIGNS_DIR", str(tmp_path / "measured"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "measured"


def imported(*words: str):
    done = CliRunner().invoke(app, ["envelopes", "import", *words, "--as", "mine"], env={"COLUMNS": "200"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def a_run(rates, step_s=1.0, *, options=None) -> str:
    """fio's JSON of a run with these IOPS, of 16 KiB."""
    mean = float(np.mean(rates))
    side = a_side(mean, operations=round(mean * step_s * len(rates)))
    return fio_json(a_job(read=side, options=options))


def a_log(rates, unit=1.0, *, step_s=1.0, direction=0) -> str:
    lines = (
        f"{round(1_000 * step_s * (at + 1))}, {rate * unit:.0f}, {direction}, 0, 0" for at, rate in enumerate(rates)
    )
    return "\n".join(lines) + "\n"


def evidence(folder, need_iops):
    """The evidence for a gp2 of 100 GiB."""
    own = TYPES["gp2"].ceiling(a_spec("gp2", 100))
    place = Place(
        provider="aws", account="111122223333", region="us-east-1", today=date(2026, 11, 21), max_age_days=180
    )
    return evidence_for(
        "gp2",
        own,
        need_iops=need_iops,
        need_throughput_mib_s=4,
        envelopes=[envelope_library(folder).get("mine")],
        place=place,
        hostless=own,
    )


def test_a_log_that_spends_the_credits_shows_what_lasts_and_proves_a_need_that_lasts(folder):
    rates = made(3_000, 300, CREDITS, EMPTY_S + 1_600, noise=0.05)
    Path("run.json").write_text(a_run(rates), encoding="utf-8")
    Path("run_iops.1.log").write_text(a_log(rates), encoding="utf-8")
    output = imported("run.json", "run_iops.1.log", *GP2, *HERE, *LARGE)
    (one,) = envelope_library(folder).get("mine").measurements
    found = next(lasting for lasting in one.lastings if lasting.side is IOPS)
    assert found.burst_rate == pytest.approx(3_000, rel=0.01)
    assert found.sustained_rate == pytest.approx(300, rel=0.01) == one.lasting(IOPS)
    assert found.credits == pytest.approx(CREDITS, rel=0.02)
    assert f"{found.sustained_rate:,.0f} are sustained" in output
    proven = evidence(folder, 1_000)
    assert proven.grade is Grade.A
    assert "are sustained" in proven.text


def test_one_that_does_not_shows_no_sustained_figure_and_proves_no_need_that_lasts(folder):
    rates = made(3_000, 300, CREDITS, 600, noise=0.05)
    Path("run.json").write_text(a_run(rates), encoding="utf-8")
    Path("run_iops.1.log").write_text(a_log(rates), encoding="utf-8")
    output = " ".join(imported("run.json", "run_iops.1.log", *GP2, *HERE, *LARGE).split())
    (one,) = envelope_library(folder).get("mine").measurements
    assert [lasting.sustained_rate for lasting in one.lastings if lasting.side is IOPS] == [None]
    assert one.lasting(IOPS) == 0
    assert "no sustained figure, as the volume has 5,400,000 burst credits above 300 IOPS, of which only" in output
    assert Resource.IOPS not in evidence(folder, 300).covers


def test_jobs_and_directions_that_ran_together_are_one_series(folder):
    rates = made(3_000, 300, CREDITS, EMPTY_S + 600)
    Path("run.json").write_text(a_run(rates), encoding="utf-8")
    for job in (1, 2):
        Path(f"run_bw.{job}.log").write_text(_mixed(rates / 4, 16.0), encoding="utf-8")
    imported("run.json", "run_bw.1.log", "run_bw.2.log", *GP2, *HERE, *LARGE)
    (one,) = envelope_library(folder).get("mine").measurements
    found = {lasting.side: lasting for lasting in one.lastings}
    assert found[IOPS].sustained_rate == pytest.approx(300, rel=0.01)
    assert found[Resource.THROUGHPUT].burst_rate == pytest.approx(3_000 * 16 / 1_024, rel=0.01)


def _mixed(rates, unit) -> str:
    """A log of reads and writes, line by line."""
    lines = zip(a_log(rates, unit).splitlines(), a_log(rates, unit, direction=1).splitlines(), strict=True)
    return "\n".join(line for pair in lines for line in pair)


@pytest.mark.parametrize("spent", [True, False])
def test_snapshots_of_one_run_are_one_result_with_its_series(folder, spent):
    rates = made(3_000, 300, CREDITS, EMPTY_S + 1_600 if spent else 900, step_s=60.0)
    done = np.cumsum(rates) / np.arange(1, len(rates) + 1)
    snapshots = [
        fio_json(
            a_job(read=a_side(float(mean)) | {"runtime": 60_000 * at}, elapsed=60 * at),
            timestamp=1_795_425_982 + 60 * at,
        )
        for at, mean in enumerate(done, start=1)
    ]
    Path("run.json").write_text("\n".join(snapshots), encoding="utf-8")
    imported("run.json", *GP2, *HERE, *LARGE)
    (one,) = envelope_library(folder).get("mine").measurements
    assert one.iops == pytest.approx(rates.mean(), rel=1e-6)
    (found,) = [lasting for lasting in one.lastings if lasting.side is IOPS]
    assert found.burst_rate == pytest.approx(3_000, rel=0.01)
    assert found.sustained_rate == (pytest.approx(300, rel=0.02) if spent else None)


def test_sysbench_s_reports_are_a_series(folder):
    rates = made(3_000, 300, CREDITS, EMPTY_S + 1_600, step_s=10.0)
    mib_s = rates * 16 / 1_024
    reports = "\n".join(
        f"[ {10 * at}s ] reads: {one:.2f} MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 1.500"
        for at, one in enumerate(mib_s, start=1)
    )
    text = (
        "sysbench 1.0.20 (using system LuaJIT 2.1.0)\nsysbench fileio --file-test-mode=rndrd --file-block-size=16384 "
        f"--file-extra-flags=direct --file-total-size=50G --time={10 * len(rates)} --report-interval=10 run\n\n"
        f"Number of threads: 16\n{reports}\n\nFile operations:\n    reads/s:   {rates.mean():.2f}\n    writes/s: 0.00\n"
        f"    fsyncs/s: 0.00\n\nThroughput:\n    read, MiB/s:  {mib_s.mean():.2f}\n    written, MiB/s: 0.00\n"
    )
    Path("run.txt").write_text(text, encoding="utf-8")
    imported("run.txt", *GP2, *HERE, *LARGE)
    (one,) = envelope_library(folder).get("mine").measurements
    (found,) = [lasting for lasting in one.lastings if lasting.side is IOPS]
    assert found.sustained_rate == pytest.approx(300, rel=0.02)
    assert found.credits == pytest.approx(CREDITS, rel=0.02)


def test_a_host_that_may_burst_is_emptied_too_before_anything_is_sustained(folder):
    """A gp3 has no credits, but an m5.large carries 593.75 MB/s for half an hour and then 81.25 MB/s."""
    rates = np.full(600, 12_800.0)
    Path("run.json").write_text(a_run(rates), encoding="utf-8")
    Path("run_iops.1.log").write_text(a_log(rates), encoding="utf-8")
    gp3 = ["--type", "gp3", "--size-gib", "500", "--iops", "16000", "--throughput-mib-s", "1000"]
    output = " ".join(imported("run.json", "run_iops.1.log", *gp3, "--host-type", "m5.large").split())
    assert "no sustained figure, as its host has" in output
    (one,) = envelope_library(folder).get("mine").measurements
    assert {lasting.sustained_rate for lasting in one.lastings} == {None}


def test_a_series_of_the_corpus_that_lasts_for_seconds_shows_nothing_that_lasts(folder):
    imported(str(FILES / "status-interval.json"), *GP2, *LARGE)
    (one,) = envelope_library(folder).get("mine").measurements
    assert all(lasting.sustained_rate is None for lasting in one.lastings)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("1000, 9000, 0, 0\n2000, 9000, 0, 0\n3000, 9000, 0, 0\n", "are of another run"),
        ("1000, 3000, 0, 0\n500, 3000, 0, 0\n", "go back"),
        ("\n".join(f"{at}, 3000, 0, 0" for at in range(1, 2_000)), "log_avg_msec=1000"),
        ("time,value\n", "line 1 of run_iops.1.log is not a line of fio's logs"),
    ],
)
def test_a_log_that_cannot_be_of_the_run_is_refused_with_what_to_do(folder, log, told):
    Path("run.json").write_text(a_run(np.full(3, 3_000.0)), encoding="utf-8")
    Path("run_iops.1.log").write_text(log, encoding="utf-8")
    with pytest.raises(BadInput, match=told):
        imported("run.json", "run_iops.1.log", *GP2)
    assert not folder.exists()


def test_logs_beside_several_results_belong_to_none(folder):
    Path("run.json").write_text(fio_json(a_job(), a_job("other", 1)), encoding="utf-8")
    Path("run_iops.1.log").write_text(a_log(np.full(60, 1_000.0)), encoding="utf-8")
    with pytest.raises(BadInput, match="any of 2 results"):
        imported("run.json", "run_iops.1.log", *GP2)


def test_a_run_without_snapshots_has_no_series():
    assert read_output(fio_json(a_job()), name="run").results[0].series is None
