"""A plan held against the demand of a run: each verdict, with its figures, and the laws that hold for any of them."""

import json
import math
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll.api.checking import KnownVolumes, check_plan, judge_planned
from plimsoll.api.planned import PlannedVolume
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.findings import FINDING_PRINTERS, VERDICTS, PlanCheck, PlanFinding
from plimsoll.reports.record import EventRecord, MemoryRecord, PastPeaksRecord, TemplateRecord
from plimsoll.reports.run_reader import full_name
from tests.builders import a_demand, a_policy, a_spec, a_volume
from tests.unit.api.test_planned import PLANS, a_change, written
from tests.unit.api.watched import (
    LEDGER,
    MIDNIGHT_S,
    ORDERS,
    ROOT,
    a_busy_minute,
    the_fleet,
    watch,
    watch_demand,
    write_run,
)
from tests.unit.reports.runs import an_unanswered

GP3 = a_spec("gp3", 500)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "one", the_fleet())


def judged(watched, planned, before=None, **changes):
    """The finding on a volume that is to become a spec; `changes` are of its record."""
    record = watched.record.model_copy(update=changes)
    known = KnownVolumes({record.volume_id: record}, {full_name(record): watched.profile}, {})
    volume = PlannedVolume(
        address="a", cloud="aws", volume_id=record.volume_id, before=before or record.current.spec, after=planned
    )
    return judge_planned(volume, known, a_policy())


@pytest.mark.parametrize(
    ("plan", "verdicts"),
    [
        (
            "terraform.json",
            {
                'module.db["eu"].aws_ebs_volume.data[0]': "oversized",
                "aws_ebs_volume.logs": "as-recommended",
                'aws_ebs_volume.orders["primary"]': "throttles",
                "aws_instance.web[1].root_block_device": "fine",
                'aws_instance.web[1].ebs_block_device["/dev/sdf"]': "unknown",
                "aws_ebs_volume.scratch": "as-recommended",
                "aws_ebs_volume.fresh": "new",
                "aws_ebs_volume.later": "unknown",
            },
        ),
        (
            "change-set.json",
            {
                "LedgerVolume": "oversized",
                "LogsVolume": "as-recommended",
                "OrdersVolume": "throttles",
                "ScratchVolume": "as-recommended",
                "LaterVolume": "unknown",
                "StrangerVolume": "unknown",
                "FreshVolume": "new",
                "Network": "unknown",
            },
        ),
    ],
)
def test_each_volume_of_a_plan_has_a_verdict_by_the_run(run, plan, verdicts):
    check = check_plan(PLANS / plan, run)
    assert {finding.address: finding.verdict for finding in check.findings} == verdicts
    assert (check.refuse("throttles"), check.is_whole) == (True, False)
    worst, second = check.ranking[:2]
    assert "3,000 IOPS; the volume did 12,400 on 2026-11-19" in worst.text
    assert (second.planned_usd_month, second.saved_usd_month, second.better) == (120.0, 80.0, GP3)
    assert "never passed 200 IOPS and 10 MiB/s in 2 days" in second.text


def test_what_the_run_does_not_know_is_named_with_the_reason(tmp_path):
    run = write_run(tmp_path / "run", the_fleet()[:3], [an_unanswered("vol-0a00000000000004", reason="AccessDenied")])
    by_address = {finding.address: finding for finding in check_plan(PLANS / "terraform.json", run).findings}
    root = by_address["aws_instance.web[1].root_block_device"]
    assert (root.verdict, root.volume) == ("unknown", "vol-0a00000000000004")
    assert "AccessDenied" in root.text
    other = by_address['aws_instance.web[1].ebs_block_device["/dev/sdf"]']
    assert (other.verdict, other.volume) == ("unknown", "vol-0a00000000000009")


@pytest.mark.parametrize("known_by", ["disk_id", "path"])
def test_a_google_disk_of_a_run_is_found_by_its_number_or_its_path(tmp_path, known_by):
    watched = watch(a_volume("gp3", 500, id="1234567890123456789"), 100.0, 5.0)
    figures = {"size_gib": 500, "iops": None, "throughput_mib_s": None}
    record = watched.record.model_copy(
        update={
            "account": "shop-data",
            "region": "europe-west1",
            "zone": "europe-west1-b",
            "name": "ledger",
            "provider": "google",
            "offers": [],
            "target": None,
            "current": watched.record.current.model_copy(update={"type": "pd-ssd", **figures}),
        }
    )
    place = {"account": record.account, "region": record.region}
    run = write_run(
        tmp_path / "run", [watched._replace(record=record, profile=watched.profile.model_copy(update=place))]
    )
    disk = {"id": "projects/shop-data/zones/europe-west1-b/disks/ledger", "type": "pd-ssd", "size": 500}
    if known_by == "disk_id":
        disk["disk_id"] = record.volume_id
    change = a_change({**disk, "size": 800}, disk, type_name="google_compute_disk")
    plan = written(tmp_path, {"format_version": "1.2", "resource_changes": [change]})
    (finding,) = check_plan(plan, run).findings
    assert (finding.verdict, finding.volume) == ("fine", full_name(record))


def test_a_limit_that_the_volume_passed_throttles_and_one_that_leaves_no_headroom_is_tight():
    watched = watch(ORDERS, a_busy_minute(12_400, 2_000), 100.0)  # 14,900 IOPS are recommended
    assert judged(watched, a_spec("gp3", 1000, iops=12_399)).verdict == "throttles"
    assert judged(watched, a_spec("gp3", 1000, iops=12_400)).verdict == "tight"
    assert judged(watched, a_spec("gp3", 1000, iops=14_800)).verdict == "tight"
    assert judged(watched, a_spec("gp3", 1000, iops=14_900)).verdict == "as-recommended"
    finding = judged(watched, a_spec("gp3", 1000, iops=16_000))
    assert (finding.verdict, finding.saved_usd_month) == ("oversized", 5.5)


def test_a_burst_of_credits_carries_a_minute_and_not_two_days():
    minute = watch(a_volume("gp3", 500, iops=6000), a_busy_minute(2_900, 100), 5.0)
    assert judged(minute, a_spec("gp2", 500)).verdict != "throttles"  # 3,000 IOPS of burst
    always = watch(a_volume("gp3", 500, iops=6000), 2_000.0, 5.0)
    finding = judged(always, a_spec("gp2", 500))
    assert finding.verdict == "throttles"
    assert "1,500 IOPS" in finding.text


def test_what_the_memory_holds_of_the_time_before_the_window_counts():
    watched = watch(LEDGER, 200.0, 10.0)
    event = EventRecord(side="IOPS", rate=9_000.0, start="2026-02-03T04:00:00Z", minutes=60.0, days=1, rhythm=None)
    memory = MemoryRecord(start="2025-08-01", end="2026-11-18", days=400, instead_of=None, event=event)
    target = watched.record.target.model_copy(update={"iops": 9_000})
    finding = judged(watched, replace(GP3, iops=6_000), memory=memory, target=target)
    assert finding.verdict == "throttles"
    assert "6,000 IOPS; the volume did 9,000 on 2026-02-03" in finding.text
    figures = {
        "free_iops": 3000.0,
        "free_throughput_mib_s": 125.0,
        "ceiling_iops": 1e4,
        "ceiling_throughput_mib_s": 500.0,
    }
    peaks = PastPeaksRecord(days=30, iops=[[150.0], [210.0]], throughput_mib_s=[[9.0], [11.0]], **figures)
    calm = memory.model_copy(update={"event": None, "peaks": peaks})
    finding = judged(watched, replace(GP3, iops=16_000), memory=calm)
    assert finding.verdict == "oversized"
    assert "never passed 210 IOPS and 11 MiB/s in 402 days" in finding.text
    rare = calm.model_copy(update={"peaks": peaks.model_copy(update={"iops": [[5_000.0], [210.0]]})})
    assert judged(watched, replace(GP3, iops=3_100), memory=rare).verdict == "fine"  # the run recommends 3,000
    assert judged(watched, replace(GP3, iops=3_100), memory=rare, target=target).verdict == "throttles"
    gap = calm.model_copy(update={"peaks": peaks.model_copy(update={"iops": [[150.0], None]})})
    assert "in 402 days" not in judged(watched, replace(GP3, iops=16_000), memory=gap).text


def test_a_plan_that_takes_a_recommended_change_back_says_so():
    watched = watch(LEDGER, 200.0, 10.0)
    finding = judged(watched, LEDGER.spec, before=watched.record.target.spec)
    assert (finding.verdict, finding.saved_usd_month, finding.better) == ("reverts", 50.0, GP3)


def test_a_plan_that_begins_elsewhere_than_the_run_saw_says_what_that_was():
    watched = watch(ROOT, 100.0, 5.0)
    assert "gp3 100 GiB 3,000 IOPS" in judged(watched, a_spec("gp3", 200), before=a_spec("gp2", 100)).text


def test_a_volume_that_is_throttled_today_is_not_helped_by_as_much_and_harmed_by_less():
    watched = watch(a_volume("gp3", 500, iops=4_000), 4_000.0, 20.0)
    assert watched.record.action == "upgrade"
    finding = judged(watched, a_spec("gp3", 800, iops=4_000))
    assert finding.verdict == "tight"
    assert "no more than today" in finding.text
    assert judged(watched, a_spec("gp3", 500, iops=3_500)).verdict == "throttles"
    assert judged(watched, watched.record.target.spec).verdict == "as-recommended"
    assert judged(watched, watched.record.current.spec, before=watched.record.target.spec).verdict == "throttles"


def test_where_too_little_is_known_only_what_lowers_nothing_is_fine():
    short = watch_demand(
        LEDGER, a_demand(200.0, 10.0, buckets=60, start_s=MIDNIGHT_S), a_policy(min_saving_usd_month=1e6)
    )
    assert short.record.action == "insufficient-data"
    assert judged(short, replace(LEDGER.spec, size_gib=600)).verdict == "fine"
    assert judged(short, GP3).verdict == "unknown"
    assert judged(short, a_spec("gp3", 500, iops=3_000), demand=None).verdict == "unknown"
    busy = watch_demand(
        LEDGER, a_demand(5_000.0, 10.0, buckets=60, start_s=MIDNIGHT_S), a_policy(min_saving_usd_month=1e6)
    )
    assert judged(busy, GP3).verdict == "throttles"


def test_minutes_that_were_not_read_may_have_been_higher_and_leave_no_headroom():
    watched = watch(LEDGER, 200.0, 10.0)
    demand = watched.record.demand.model_copy(update={"peak_iops": 4_000.0, "least_peak_iops": 200.0})
    target = watched.record.target.model_copy(update={"iops": 4_800})
    assert judged(watched, replace(GP3, iops=4_500), demand=demand, target=target).verdict == "tight"


def test_a_type_without_published_limits_is_unknown():
    assert judged(watch(ROOT, 100.0, 5.0), VolumeSpec(type="gp9", size_gib=100)).verdict == "unknown"


def test_disks_that_share_a_ceiling_are_judged_as_a_group_alone():
    watched = watch(ROOT, 100.0, 5.0)
    record = watched.record.model_copy(
        update={
            "provider": "google",
            "pool": ["2", "3"],
            "current": watched.record.current.model_copy(
                update={"type": "pd-ssd", "size_gib": 500, "iops": None, "throughput_mib_s": None}
            ),
            "target": None,
            "offers": [],
        }
    )
    known = KnownVolumes({record.volume_id: record}, {}, {})

    def verdict(type_name, size_gib):
        planned = VolumeSpec(type=type_name, size_gib=size_gib)
        volume = PlannedVolume(address="a", cloud="google", volume_id=record.volume_id, after=planned)
        return judge_planned(volume, known, a_policy()).verdict

    assert (verdict("pd-balanced", 500), verdict("pd-ssd", 400), verdict("pd-ssd", 600)) == (
        "unknown",
        "unknown",
        "fine",
    )


def test_prices_that_are_not_the_runs_own_are_not_used():
    watched = watch(LEDGER, 200.0, 10.0)
    finding = judged(watched, replace(LEDGER.spec, iops=16_000), monthly_usd_now=91.5)
    assert (finding.verdict, finding.planned_usd_month, finding.saved_usd_month) == ("oversized", None, None)
    dearer = [offer.model_copy(update={"monthly_usd": 1.0}) for offer in watched.record.offers]
    assert judged(watched, replace(LEDGER.spec, iops=16_000), offers=dearer).planned_usd_month is None


# ---- laws

SPECS = some.one_of(
    some.builds(
        a_spec,
        some.just("gp3"),
        some.integers(400, 4000),
        iops=some.integers(3000, 16_000),
        throughput_mib_s=some.integers(125, 700),
    ),
    some.builds(a_spec, some.just("gp2"), some.integers(400, 4000)),
    some.builds(a_spec, some.just("io2"), some.integers(400, 4000), iops=some.integers(100, 20_000)),
)
PHASES = some.lists(
    some.tuples(some.integers(1, 9_000), some.integers(1, 400), some.integers(1, 600)), min_size=1, max_size=6
)
"""IOPS and MiB/s for some minutes."""


def a_life(spec, phases):
    """A volume of that spec whose minutes are as the phases say, and no more than it carries."""
    limits = naive(spec)
    iops, mib_s = (
        np.minimum(np.resize(np.repeat(rates, [phase[2] for phase in phases]), 2 * 1440), 0.8 * limits[side])
        for side, rates in enumerate(list(zip(*phases, strict=True))[:2])
    )
    volume = a_volume(spec.type, spec.size_gib, iops=spec.iops, throughput_mib_s=spec.throughput_mib_s)
    return watch_demand(volume, a_demand(list(iops), list(mib_s), start_s=MIDNIGHT_S))


def naive(spec):
    """IOPS, MiB/s, and IOPS without end of a spec of 400 GiB or more, by AWS's page on EBS volume types."""
    if spec.type == "gp3":
        return spec.iops, spec.throughput_mib_s, spec.iops
    if spec.type == "io2":
        return spec.iops, min(4000.0, spec.iops / 4), spec.iops
    base = min(16_000, 3 * spec.size_gib)
    return max(base, 3000), 250.0, base


def runs_dry(spec, profile):
    """Credits of gp2, span by span."""
    _, _, base = naive(spec)
    left = 5.4e6
    for mean, length_s in zip(profile.iops, profile.length_s, strict=True):
        left = min(5.4e6, left - (mean - base) * length_s)
        if left < -1:
            return True
    return False


@given(SPECS, PHASES, SPECS)
def test_a_plan_throttles_where_the_profile_passes_a_limit_that_is_lower_than_the_recommended(present, phases, planned):
    watched = a_life(present, phases)
    record, profile = watched
    recommended = record.target.spec if record.action in {"migrate", "reprovision", "upgrade"} else present
    finding = judged(watched, planned)
    iops, mib_s, sustained = naive(planned)
    both = naive(recommended), naive(present)
    lower = all(iops < their_iops or sustained < their_sustained for their_iops, _, their_sustained in both)
    passed = max(profile.peak_iops) > iops or (
        planned.type == "gp2" and iops > sustained and runs_dry(planned, profile)
    )
    # A span's peak is rounded to four digits: what is that near may be either.
    near = math.isclose(max(profile.peak_iops), iops, rel_tol=1e-3)
    near |= math.isclose(max(profile.peak_throughput_mib_s), mib_s, rel_tol=1e-3)
    slower = all(
        mib_s < their_mib_s or min(mib_s, sustained / 4) < min(their_mib_s, their_sustained / 4)
        for _, their_mib_s, their_sustained in both
    )
    throttles = (lower and passed) or (slower and max(profile.peak_throughput_mib_s) > mib_s)
    if not near and planned != recommended:
        assert (finding.verdict == "throttles") == throttles, (finding, record.action, recommended)


@given(SPECS, PHASES)
def test_a_plan_that_makes_the_recommended_change_is_as_recommended(present, phases):
    watched = a_life(present, phases)
    record = watched.record
    if record.target is not None and record.action in {"migrate", "reprovision", "upgrade"}:
        assert judged(watched, record.target.spec).verdict == "as-recommended"
        reverted = "throttles" if record.action == "upgrade" else "reverts"
        assert judged(watched, present, before=record.target.spec).verdict == reverted
    else:
        assert judged(watched, replace(present, size_gib=present.size_gib + 1)).verdict == "fine"


# ---- printers

HOSTILE = 'aws_ebs_volume.a["\x1b[31m|`<script>@team"]'


def a_check(*verdicts, plan="plans/plan one.json"):
    findings = [
        PlanFinding(address=f"{HOSTILE}{place}", verdict=code, text=f"<b>{code}</b>")
        for place, code in enumerate(verdicts)
    ]
    return PlanCheck(plan=plan, run="runs/one", as_of="2026-11-27 06:00 UTC", findings=findings)


SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "items": {
                                            "required": ["id", "shortDescription"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": {"required": ["text"]},
                                            },
                                        }
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "items": {
                            "required": ["ruleId", "level", "message", "locations", "partialFingerprints"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                                "locations": {
                                    "minItems": 1,
                                    "items": {
                                        "required": ["physicalLocation", "logicalLocations"],
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "properties": {"uri": {"pattern": r"^[A-Za-z0-9_.~/%-]+$"}}
                                                    },
                                                    "region": {"properties": {"startLine": {"minimum": 1}}},
                                                },
                                            }
                                        },
                                    },
                                },
                                "partialFingerprints": {"additionalProperties": {"type": "string"}},
                            },
                        }
                    },
                },
            },
        },
    },
}
"""What SARIF 2.1.0 asks for, and what GitHub's code scanning asks for beside it."""


def test_sarif_has_a_rule_for_each_verdict_and_a_result_for_each_finding():
    log = json.loads("".join(FINDING_PRINTERS["sarif"](a_check(*VERDICTS))))
    jsonschema.validate(log, SARIF)
    (only,) = log["runs"]
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in only["results"]] == [
        result["ruleId"] for result in only["results"]
    ]
    assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in only["results"]}) == len(
        VERDICTS
    )
    assert [result["level"] for result in only["results"]] == [kind.level for kind in VERDICTS.values()]


def test_json_has_every_finding_with_its_figures(run):
    check = check_plan(PLANS / "terraform.json", run)
    written = json.loads("".join(FINDING_PRINTERS["json"](check)))
    assert [row["verdict"] for row in written["findings"]] == [finding.verdict for finding in check.findings]
    (ledger,) = (row for row in written["findings"] if row["verdict"] == "oversized")
    assert (ledger["planned"]["iops"], ledger["better"]["iops"]) == (16_000, 3_000)
    assert (ledger["monthly_usd_planned"], ledger["monthly_usd_saved_by_better"]) == (120.0, 80.0)


@pytest.mark.parametrize("format_", FINDING_PRINTERS)
def test_names_in_a_plan_are_shown_and_not_obeyed(format_):
    printed = "".join(FINDING_PRINTERS[format_](a_check("throttles")))
    assert "\x1b" not in printed
    if format_ == "md":
        assert "<b>" not in printed


def test_markdown_is_as_long_as_github_takes_it_with_the_worst_first():
    printed = "".join(FINDING_PRINTERS["md"](a_check(*["fine"] * 2_000, "throttles")))
    assert len(printed) < 65_536
    assert printed.index("`throttles`") < printed.index("`fine`")


def test_a_plan_that_changes_no_volume_is_whole_and_said():
    check = a_check()
    assert (check.is_whole, check.refuse("oversized")) == (True, False)
    assert "no volume" in "".join(FINDING_PRINTERS["text"](check))


def test_a_verdict_is_refused_by_what_is_asked_and_no_more():
    refused = {
        fail_on: {code for code in VERDICTS if a_check(code).refuse(fail_on)} for fail_on in ("throttles", "oversized")
    }
    assert refused == {"throttles": {"throttles"}, "oversized": {"throttles", "oversized", "reverts"}}
    assert [code for code in VERDICTS if not a_check(code).is_whole] == ["unknown"]


def test_a_template_is_judged_by_the_worst_of_the_volumes_that_it_made_at_that_device(tmp_path):
    def of_template(watched, device="/dev/xvda", name="lt-1"):
        record = watched.record
        template = TemplateRecord(
            kind="auto-scaling",
            name=name,
            device=device,
            monthly_usd_now=1.0,
            least_monthly_usd=0.0,
            least_hours=0.0,
            together=False,
            offer=None,
            held=None,
        )
        return watched._replace(record=record.model_copy(update={"template": template}))

    ledger, _, orders, root, scratch = the_fleet()
    fleet = [of_template(ledger), of_template(orders), of_template(root, "/dev/sdf"), of_template(scratch, name="lt-2")]
    run = write_run(tmp_path / "run", fleet)

    def mapped(template, size=1000, **ebs):
        block = {"volume_type": "gp3", "volume_size": size, **ebs}
        return {"id": template, "block_device_mappings": [{"device_name": "/dev/xvda", "ebs": [block]}]}

    def found(template):
        change = a_change(mapped(template, iops=3000), mapped(template, iops=16_000), type_name="aws_launch_template")
        return check_plan(written(tmp_path, {"resource_changes": [change]}), run).findings

    (finding,) = found("lt-1")
    assert (finding.verdict, finding.volume) == ("throttles", full_name(orders.record))
    assert finding.text.startswith("Of 2 volumes of this template: ")
    assert [finding.verdict for finding in found("lt-9")] == ["unknown"]
