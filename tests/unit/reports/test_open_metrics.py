"""OpenMetrics: official parsers read it, its sums are those of the totals, and what is not known is not there."""

import subprocess
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as plain_families

from plimsoll.decide.offers import LossCode
from plimsoll.reports import open_metrics
from plimsoll.reports.open_metrics import ALL_OTHERS, metrics_lines
from plimsoll.reports.record import OwnerRecord
from plimsoll.reports.totals import RunTotals
from tests.needs import find_promtool
from tests.profiles import examples
from tests.unit.reports.recommendations import a_record, a_risk, every_action
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.reports.strategies import HOSTILE, fleets

BY_STEP = {
    "cost_usd_per_month": "usd_now",
    "saving_usd_per_month": "usd_saved",
    "drop_in_saving_usd_per_month": "usd_saved_drop_in",
    "blocked_saving_usd_per_month": "usd_blocked",
    "upgrade_cost_usd_per_month": "usd_upgrades",
    "waiting_saving_usd_per_month": "usd_waiting",
    "too_risky_saving_usd_per_month": "usd_too_risky",
    "answered_volumes": "answered_count",
    "unpriced_volumes": "unpriced",
}


def exposed(folder, only=None):
    return "".join(metrics_lines(folder, only))


def read(text):
    """The samples by family, each with its labels, as the official parser of OpenMetrics reads them."""
    families = list(text_string_to_metric_families(text))
    assert all(family.type == "gauge" and family.documentation for family in families)
    assert all(sample.name == family.name for family in families for sample in family.samples)
    return {
        family.name.removeprefix("plimsoll_"): {
            tuple(sample.labels.values()): sample.value for sample in family.samples
        }
        for family in families
    }


def cents(amounts):
    return sum(round(amount * 100) for amount in amounts)


def owned(kind, name, **fields):
    return a_record("migrate", owner=OwnerRecord(kind=kind, name=name), **fields)


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(fleets())
def test_every_figure_adds_up_to_the_totals_of_the_run(tmp_path_factory, records):
    run = a_run(tmp_path_factory.mktemp("run"), records)
    totals, samples = RunTotals.add_up(records, by=("step", "account")), read(exposed(run))
    for name, total in BY_STEP.items():
        assert cents(samples.get(name, {}).values()) == round(getattr(totals, total) * 100), name
        for step, part in totals.by["step"].items():
            amounts = [value for (of, _), value in samples.get(name, {}).items() if of == step]
            assert cents(amounts) == round(getattr(part, total) * 100), (name, step)
    for prefix in ("account", "owner"):
        for name in ("cost_usd_per_month", "saving_usd_per_month"):
            assert cents(samples.get(f"{prefix}_{name}", {}).values()) == round(getattr(totals, BY_STEP[name]) * 100)
    risk = totals.risk
    assert sum(samples.get("promised_volumes", {}).values()) == risk.promised
    assert sum(samples.get("unpromised_volumes", {}).values()) == risk.unpromised
    assert sum(samples.get("expected_throttled_volumes", {}).values()) == pytest.approx(risk.risks_pct / 100)
    losses = Counter(loss.code for record in records for loss in record.losses)
    assert {code: samples["loss_volumes"][code,] for code in LossCode} == {code: losses[code] for code in LossCode}


def test_what_is_not_known_has_no_sample_and_what_is_zero_has_one(tmp_path):
    unpriced = a_record("migrate", volume_id="vol-1", monthly_usd_now=None, monthly_usd_saved=0.0, account="1")
    unjudged = a_record("insufficient-data", volume_id="vol-2", account="2")
    kept = a_record("keep", volume_id="vol-3", account="3", monthly_usd_saved_drop_in=0.0)
    samples = read(exposed(a_run(tmp_path / "run", [unpriced, unjudged, kept])))
    assert set(samples["account_cost_usd_per_month"]) == {("aws", "2"), ("aws", "3")}
    assert samples["account_saving_usd_per_month"] == {("aws", "3"): 0.0}
    assert "changed_volumes" not in samples
    assert "expected_throttled_volumes" not in samples
    assert "promise_window_seconds" not in samples
    assert samples["skipped_volumes"] == {(): 0}


def test_the_cost_of_what_is_attached_to_nothing_is_no_saving(tmp_path):
    samples = read(exposed(a_run(tmp_path / "run", [a_record("detached")])))
    assert [step for step, _ in samples["cost_usd_per_month"]] == ["detached"]
    assert "saving_usd_per_month" not in samples


def test_the_run_says_its_time_its_coverage_and_what_became_of_promises(tmp_path):
    kept = {"changed": 4, "throttled": 1, "expected": 0.5, "chance_pct": 12.0, "broken": False, "observed_pct": 80.0}
    run = a_run(
        tmp_path / "run",
        [a_record("migrate", volume_id="vol-1", risk=a_risk(5.0))],
        unanswered=[an_unanswered("vol-2"), an_unanswered("vol-3", "skipped", "excluded by the policy: tag keep")],
        failed_places={"444455556666/eu-west-1": "AccessDenied"},
        status="partial",
        promises=kept,
    )
    samples = read(exposed(run))
    assert samples["run_info"] == {("partial", "0.1.0"): 1}
    assert samples["run_timestamp_seconds"] == {(): 1800000000.0}
    coverage = ("seen_volumes", "failed_volumes", "skipped_volumes", "failed_targets")
    assert [samples[name][()] for name in coverage] == [3, 1, 1, 1]
    observed = ("changed_volumes", "changed_throttled_volumes", "changed_expected_throttled_volumes")
    assert [samples[name][()] for name in observed] == [4, 1, 0.5]
    assert (samples["promises_broken"][()], samples["promises_observed_ratio"][()]) == (0, 0.8)
    assert sum(samples["expected_throttled_volumes"].values()) == 0.05
    assert samples["promise_window_seconds"][()] > samples["promise_throttling_seconds"][()] > 0


def test_a_part_says_nothing_of_the_whole_run(tmp_path):
    run = a_run(tmp_path / "run", [a_record("migrate", volume_id="vol-1"), a_record("keep", volume_id="vol-2")])
    samples = read(exposed(run, lambda record: record.action == "keep"))
    assert sum(samples["answered_volumes"].values()) == 1
    assert "seen_volumes" not in samples


def test_names_are_few_and_the_others_are_one_sample_of_their_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(
        open_metrics, "GROUPINGS", [one._replace(most=one.most and 2) for one in open_metrics.GROUPINGS]
    )
    records = [
        owned("terraform", f"module.{number}", volume_id=f"vol-{number}", monthly_usd_saved=10.0 + number)
        for number in range(5)
    ]
    claims = [owned("kubernetes", f"shop/{name}", volume_id=name, monthly_usd_saved=1.5) for name in ("a", "b")]
    samples = read(exposed(a_run(tmp_path / "run", [*records, *claims])))
    assert samples["owner_saving_usd_per_month"] == {
        ("terraform", "module.4"): 14.0,
        ("terraform", "module.3"): 13.0,
        ("terraform", ALL_OTHERS): 33.0,
        ("kubernetes", ALL_OTHERS): 3.0,
    }


def test_a_kubernetes_claim_counts_for_its_namespace(tmp_path):
    claims = [owned("kubernetes", f"shop/{name}", volume_id=name, monthly_usd_saved=1.5) for name in ("a", "b")]
    assert read(exposed(a_run(tmp_path / "run", claims)))["owner_saving_usd_per_month"] == {("kubernetes", "shop"): 3.0}


def hostile_run(folder):
    """A run of every action, with owners that are named by hostile tags and as the others are."""
    named = [
        owned("terraform", name, volume_id=f"vol-{number}", account=name)
        for number, name in enumerate((*HOSTILE, ALL_OTHERS, 'a"b', "a\\", "a\nb"))
    ]
    return a_run(folder, [*named, *(a_record(action, volume_id=f"vol-{action}") for action in every_action())])


def test_hostile_names_are_read_by_both_official_parsers_alike(tmp_path):
    text = exposed(hostile_run(tmp_path / "run"))
    assert text.endswith("# EOF\n")
    samples = read(text)
    plain = {family.name: [one.value for one in family.samples] for family in plain_families(text)}
    assert plain == {f"plimsoll_{name}": list(values.values()) for name, values in samples.items()}
    assert ("terraform", 'a"b') in samples["owner_saving_usd_per_month"]
    assert ("terraform", "a\\") in samples["owner_saving_usd_per_month"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Expositions with every family, and with every name."""
    folder = tmp_path_factory.mktemp("texts")
    kept = {"changed": 4, "throttled": 1, "expected": 0.5, "chance_pct": 12.0, "broken": False, "observed_pct": 80.0}
    whole = a_run(folder / "whole", [a_record("migrate", risk=a_risk(5.0))], promises=kept)
    return [exposed(hostile_run(folder / "hostile")), exposed(whole)]


def promtool(*words, text=None):
    program = find_promtool()
    assert program is not None
    done = subprocess.run([program, *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.needs("promtool")
def test_promtool_finds_nothing_to_complain_of(texts):
    for text in texts:
        assert promtool("check", "metrics", text=text) == (0, "", "")
        assert promtool("check", "metrics", text=text.replace("# HELP", "# NO")) != (0, "", "")


@pytest.mark.needs("promtool")
def test_the_parser_of_prometheus_takes_every_sample(texts, tmp_path):
    for number, text in enumerate(texts):
        lines = [line if line.startswith("#") else f"{line} 1800000000" for line in text.removesuffix("\n").split("\n")]
        (tmp_path / "metrics").write_text("\n".join(lines) + "\n", encoding="utf-8")
        code, said, fault = promtool(
            "tsdb", "create-blocks-from", "openmetrics", str(tmp_path / "metrics"), str(tmp_path / f"blocks-{number}")
        )
        assert code == 0, fault
        assert sum(1 for line in lines if not line.startswith("#")) == int(said.splitlines()[-1].split()[5])
