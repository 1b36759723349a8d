"""The check by an application: its tables are those of the document, its predictions those of a naive roofline."""

import pytest
import vl_convert

from benchmarks.application.__main__ import TARGET, tables
from benchmarks.application.picture import spec
from benchmarks.application.roofline import fit, flat_from, load, predict, predictions, turn, typical_pct
from tests.corpus.__main__ import put
from tests.unit.reports.charts.valid import check

CAMPAIGN = load()
GP2_MIB_S_2018 = 160
GP2_IOPS_2018 = 10_000
IO1_MIB_S = 500


def naive_tps(sweep, run):
    """Transactions a second by hand: operations from gp2 of 2,000 GiB, bytes from gp2 of 3,400 GiB."""
    iops = run.iops or sweep.volumes * min(GP2_IOPS_2018, 3 * run.size_gib)
    mib_s = IO1_MIB_S if run.iops else sweep.volumes * GP2_MIB_S_2018
    return min(iops / (6000 / 210.07), mib_s / (160 / 284.83))


def test_the_document_has_the_tables_of_today():
    text = TARGET.read_text(encoding="utf-8")
    for name, table in tables(CAMPAIGN).items():
        assert text == put(text, name, table), "run python -m benchmarks.application --write"


def test_the_page_on_evidence_has_the_medians_of_today():
    page = " ".join((TARGET.parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8").split())
    for sweep, said in (("gp2", "gp2"), ("2 x gp2", "two gp2"), ("io1", "io1")):
        assert f"{typical_pct(predictions(CAMPAIGN), sweep):.1f} % on {said}" in page


def test_the_predictions_are_those_of_a_naive_roofline():
    found = predictions(CAMPAIGN)
    assert [one.tps for one in found] == pytest.approx([naive_tps(one.sweep, one.run) for one in found], rel=1e-9)
    assert len(found) == sum(len(sweep.runs) for sweep in CAMPAIGN.sweeps) == 36


def test_the_fitted_runs_alone_are_met_and_are_no_residuals():
    fitted = [one for one in predictions(CAMPAIGN) if one.fitted]
    assert [one.run.size_gib for one in fitted] == [2000, 3400]
    assert [one.residual_pct for one in fitted] == pytest.approx([0, 0], abs=1e-9)


def test_the_roofline_turns_within_a_step_of_where_the_measurements_are_flat():
    application = fit(CAMPAIGN)
    for sweep in CAMPAIGN.sweeps:
        step = sweep.figure(sweep.runs[1]) - sweep.figure(sweep.runs[0])
        assert abs(turn(CAMPAIGN, sweep, application) - flat_from(sweep)) < step


def test_the_side_that_limits_changes_at_the_turn():
    application = fit(CAMPAIGN)
    for one in predict(CAMPAIGN, application, ()):
        below = one.sweep.figure(one.run) < turn(CAMPAIGN, one.sweep, application)
        assert one.limit.unit == ("IOPS" if below else "MiB/s")


@pytest.mark.once
def test_the_picture_has_a_valid_spec_with_every_run_and_is_drawn_without_a_warning(capfd):
    made = spec()
    check(made)
    vl_convert.vegalite_to_vega(made, vl_version="6.4", show_warnings=True)
    assert capfd.readouterr().err == ""
    assert [row["measured"] for row in made["datasets"]["runs"]] == [
        run.tps for sweep in CAMPAIGN.sweeps for run in sweep.runs
    ]
