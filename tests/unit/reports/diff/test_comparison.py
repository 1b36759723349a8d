"""The difference of two runs: every volume of either in exactly one group, and no claim without knowledge."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from plimsoll.model.kinds import CHANGES
from plimsoll.model.policy import Policy
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.render import diff_headline, json_diff, markdown_diff, money_text, notes, show_diff
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.markdown.markup import MOST_ON_GITHUB
from plimsoll.reports.record import SpecRecord
from tests.profiles import examples
from tests.unit.reports.markdown.rendered import shown
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.reports.strategies import HOSTILE

KEEP = a_record("keep", volume_id="vol-1")
MOVE = a_record("migrate", volume_id="vol-1", monthly_usd_now=50.0, monthly_usd_then=40.0)
STAY = KEEP.model_copy(update={"current": MOVE.current, "target": MOVE.current})
DETACHED = a_record("detached", volume_id="vol-1", monthly_usd_now=50.0)
OTHER_PLACE = ("222222222222/eu-west-1",)


def moved(record, **fields):
    """The volume as it is once the recommendation is carried out."""
    done = {"action": "keep", "current": record.target, "monthly_usd_now": record.monthly_usd_then}
    return record.model_copy(update={**done, "monthly_usd_saved": 0.0, **fields})


def grown(record):
    return record.model_copy(update={"current": record.current.model_copy(update={"size_gib": 900})})


def told(before, after):
    """The groups of two runs' volumes, by id, with why."""
    with compare_runs(before, after) as diff:
        return {one.volume_id: (one.group, one.why) for group in diff.totals for one in diff.list_volumes(group)}


@pytest.mark.parametrize(
    ("before", "after", "group"),
    [
        ([MOVE], [MOVE], DiffGroup.OPEN),
        ([DETACHED], [DETACHED], DiffGroup.OPEN),
        ([KEEP], [KEEP], DiffGroup.SAME),
        ([MOVE], [moved(MOVE)], DiffGroup.DONE),
        ([MOVE], [moved(MOVE, action="upgrade")], DiffGroup.DONE),
        ([MOVE], [grown(MOVE)], DiffGroup.ALTERED),
        ([KEEP], [grown(KEEP)], DiffGroup.ALTERED),
        ([MOVE], [grown(moved(MOVE))], DiffGroup.DONE),
        ([DETACHED], [grown(DETACHED)], DiffGroup.ALTERED),
        ([MOVE], [STAY], DiffGroup.CHANGED),
        ([STAY], [MOVE], DiffGroup.CHANGED),
        ([DETACHED], [STAY], DiffGroup.CHANGED),
        ([KEEP], [], DiffGroup.GONE),
        ([MOVE], [], DiffGroup.GONE),
        ([DETACHED], [], DiffGroup.DONE),
        ([], [MOVE], DiffGroup.NEW),
        ([MOVE], [an_unanswered("vol-1")], DiffGroup.FAILED),
        ([], [an_unanswered("vol-1")], DiffGroup.FAILED),
        ([an_unanswered("vol-1", "skipped")], [an_unanswered("vol-1")], DiffGroup.FAILED),
        ([MOVE], [an_unanswered("vol-1", "skipped")], DiffGroup.LEFT_OUT),
        ([an_unanswered("vol-1")], [an_unanswered("vol-1")], DiffGroup.UNANSWERED),
        ([an_unanswered("vol-1", "skipped")], [an_unanswered("vol-1", "skipped")], DiffGroup.UNANSWERED),
        ([an_unanswered("vol-1")], [KEEP], DiffGroup.FIRST_READ),
        ([an_unanswered("vol-1")], [], DiffGroup.GONE),
    ],
)
def test_what_becomes_of_a_volume_has_its_group(tmp_path, before, after, group):
    runs = []
    for name, volumes in (("before", before), ("after", after)):
        records = [one for one in volumes if hasattr(one, "action")]
        unanswered = [one for one in volumes if not hasattr(one, "action")]
        runs.append(a_run(tmp_path / name, records, unanswered=unanswered))
    assert told(*runs)["vol-1"][0] is group


@pytest.mark.parametrize(
    "fields",
    [
        {"places": OTHER_PLACE},
        {"failed_places": {"111122223333/us-east-1": "AccessDenied"}},
        {"status": "interrupted"},
        {"status": "running"},
    ],
)
def test_a_volume_is_neither_gone_nor_new_where_its_place_was_not_read_whole(tmp_path, fields):
    read = a_run(tmp_path / "read", [DETACHED])
    unread = a_run(tmp_path / "unread", **fields)
    assert told(read, unread)["vol-1"][0] is DiffGroup.NOT_READ
    assert told(unread, read)["vol-1"][0] is DiffGroup.FIRST_READ
    with compare_runs(read, unread) as diff:
        assert (diff.saved.usd, diff.known.usd_before) == (0, 0)
        assert diff.totals[DiffGroup.NOT_READ].usd_after is None


def test_a_run_that_does_not_name_what_it_left_out_claims_nobody_gone(tmp_path):
    before = a_run(tmp_path / "before", [MOVE])
    after = a_run(tmp_path / "after", unanswered=[an_unanswered("vol-9", "skipped")])
    assert told(before, after)["vol-1"][0] is DiffGroup.GONE
    (after / "unanswered.jsonl").unlink()
    assert told(before, after)["vol-1"][0] is DiffGroup.NOT_READ


def test_prices_that_could_not_be_read_do_not_make_a_place_unread(tmp_path):
    before = a_run(tmp_path / "before", [MOVE])
    after = a_run(tmp_path / "after", failed_places={"prices of 111122223333/us-east-1": "AccessDenied"})
    assert told(before, after)["vol-1"][0] is DiffGroup.GONE


def test_volumes_of_one_id_in_two_accounts_are_two(tmp_path):
    other = MOVE.model_copy(update={"account": "222222222222"})
    places = ("111122223333/us-east-1", "222222222222/us-east-1")
    before = a_run(tmp_path / "before", [MOVE, other], places=places)
    after = a_run(tmp_path / "after", [moved(MOVE)], places=places)
    with compare_runs(before, after) as diff:
        found = {one.account: group for group in diff.totals for one in diff.list_volumes(group)}
    assert found == {"111122223333": DiffGroup.DONE, "222222222222": DiffGroup.GONE}


# ---- money


def test_what_was_saved_is_what_done_volumes_cost_less(tmp_path):
    detached = DETACHED.model_copy(update={"volume_id": "vol-2"})
    unpriced = MOVE.model_copy(update={"volume_id": "vol-3", "monthly_usd_now": None})
    still = MOVE.model_copy(update={"volume_id": "vol-4", "monthly_usd_saved": 10.0})
    before = a_run(tmp_path / "before", [MOVE, detached, unpriced, still])
    after = a_run(tmp_path / "after", [moved(MOVE, monthly_usd_now=42.0), moved(unpriced), still])
    with compare_runs(before, after) as diff:
        assert diff.saved.usd == pytest.approx(50 - 40 + 50), "at the first run's prices"
        assert (diff.unpriced, diff.open_saving.usd) == (1, 10.0)
        assert diff.repriced == (1, pytest.approx(2.0)), "the offer was to cost 40 and costs 42"
        said = list(notes(diff))
        assert diff_headline(diff) == (
            "$60.00 a month saved by 2 volumes done since; 1 volume still open, which can save $10.00 a month."
        )
    assert any("1 done volume without a known price" in note for note in said)
    assert any("Prices differ: 1 volume of the same configuration, +$2.00 a month" in note for note in said)


def at(record, **figures):
    """The volume as it is when its recommendation was carried out otherwise."""
    return moved(record, current=record.target.model_copy(update=figures))


def only(tmp_path, before, after, **fields):
    with compare_runs(a_run(tmp_path / "before", [before]), a_run(tmp_path / "after", after, **fields)) as diff:
        (found,) = [one for group in diff.totals for one in diff.list_volumes(group)]
        return diff, found, list(notes(diff)), diff_headline(diff)


def test_what_upgrades_cost_is_told_apart_from_what_was_saved(tmp_path):
    up = a_record("upgrade", volume_id="vol-1", monthly_usd_now=40.0, monthly_usd_then=47.84, monthly_usd_saved=-7.84)
    diff, found, said, head = only(tmp_path, up, [moved(up)])
    assert (found.group, money_text(found)) == (DiffGroup.DONE, "$7.84 more")
    assert (diff.saved.usd, diff.upgraded.usd) == (0, pytest.approx(7.84))
    assert head.startswith("Nothing saved since;")
    assert "1 upgrade done, which cost $7.84 a month more; not in the saving." in said


def test_open_upgrades_and_detached_volumes_are_no_savings(tmp_path):
    up = a_record("upgrade", volume_id="vol-2", monthly_usd_saved=-7.84)
    run = a_run(
        tmp_path / "run", [DETACHED, up, MOVE.model_copy(update={"volume_id": "vol-3", "monthly_usd_saved": 10.0})]
    )
    with compare_runs(run, run) as diff:
        assert diff_headline(diff) == ("Nothing saved since; 1 volume still open, which can save $10.00 a month.")
        assert list(notes(diff)) == [
            "Still open: 1 upgrade, for $7.84 a month more.",
            "Still open: 1 volume attached to nothing, $50.00 a month.",
        ]


def test_the_drop_in_replacement_is_done_as_well(tmp_path):
    spec = SpecRecord(type="gp3", size_gib=500, iops=5000, throughput_mib_s=250)
    drop_in = MOVE.offers[0].model_copy(update={"spec": spec, "monthly_usd": 47.0})
    before = MOVE.model_copy(update={"drop_in": drop_in})
    diff, found, _, _ = only(tmp_path, before, [moved(before, current=spec, monthly_usd_now=48.0)])
    assert (found.group, found.why) == (DiffGroup.DONE, "with the same limits")
    assert diff.saved.usd == pytest.approx(3.0)
    assert diff.repriced == (1, pytest.approx(1.0))


def test_a_little_more_than_recommended_is_done_and_tells_what_it_saves(tmp_path):
    diff, found, said, _ = only(tmp_path, MOVE, [at(MOVE, iops=3500).model_copy(update={"monthly_usd_now": 43.0})])
    assert found.group is DiffGroup.DONE
    assert found.why == "nearly: recommended was gp3 500 GiB 3,000 IOPS 125 MiB/s"
    assert diff.saved.usd == pytest.approx(7.0)
    assert any("a configuration without a price in the first run" in note for note in said)


@pytest.mark.parametrize(("figures", "usd_now"), [({"iops": 16000}, 49.0), ({"throughput_mib_s": 60}, 39.0)])
def test_much_more_or_less_than_recommended_is_altered_and_tells_what_it_saved(tmp_path, figures, usd_now):
    diff, found, said, _ = only(tmp_path, MOVE, [at(MOVE, **figures).model_copy(update={"monthly_usd_now": usd_now})])
    assert (found.group, diff.saved.usd) == (DiffGroup.ALTERED, 0)
    assert found.usd_saved == pytest.approx(50 - usd_now)
    assert any("1 volume changed to something else:" in note for note in said)


@pytest.mark.parametrize("after", [an_unanswered("vol-1"), an_unanswered("vol-1", "skipped")])
def test_what_is_not_known_now_is_not_zero(tmp_path, after):
    diff, found, _, _ = only(tmp_path, MOVE, [], unanswered=[after])
    assert (diff.totals[found.group].usd_before, diff.totals[found.group].usd_after) == (50.0, None)
    assert (diff.known.volumes, diff.known.usd_before) == (0, 0)
    assert "not known" in markdown_diff_of(tmp_path)


def markdown_diff_of(tmp_path):
    with compare_runs(tmp_path / "before", tmp_path / "after") as diff:
        return markdown_diff(diff)


@pytest.mark.parametrize("place", ["111122223333/us-east-1", "arn:aws:iam::111122223333:role/x", "profile prod"])
def test_what_was_not_read_says_with_which_failure(tmp_path, place):
    places = () if "/us-east-1" not in place else ("111122223333/us-east-1",)
    _, found, _, _ = only(tmp_path, MOVE, [], failed_places={place: "AccessDenied: ask for it."}, places=places)
    assert found.group is DiffGroup.NOT_READ
    assert found.why.endswith("AccessDenied: ask for it.")


answers = st.sampled_from(["none", "keep", "move", "moved", "grown", "detached", "failed", "skipped"])


def built(folder, choices, status):
    kinds = {"keep": KEEP, "move": MOVE, "moved": moved(MOVE), "grown": grown(MOVE), "detached": DETACHED}
    ids = {number: f"vol-{number}" for number in range(len(choices))}
    records = [
        kinds[choice].model_copy(update={"volume_id": ids[number]})
        for number, choice in enumerate(choices)
        if choice in kinds
    ]
    unanswered = [
        an_unanswered(ids[number], choice) for number, choice in enumerate(choices) if choice in {"failed", "skipped"}
    ]
    return a_run(folder, records, unanswered=unanswered, status=status), records


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(answers, answers), max_size=8), st.sampled_from(["complete", "interrupted"]))
def test_every_volume_of_either_run_is_in_exactly_one_group_and_the_money_adds_up(pairs, status):
    with TemporaryDirectory() as place:
        before, ours = built(Path(place) / "before", [one for one, _ in pairs], "complete")
        after, theirs = built(Path(place) / "after", [other for _, other in pairs], status)
        expected = {f"vol-{number}" for number, pair in enumerate(pairs) if pair != ("none", "none")}
        with compare_runs(before, after) as diff:
            listed = [one.volume_id for group in diff.totals for one in diff.list_volumes(group)]
            totals = diff.totals.values()
            assert sorted(listed) == sorted(expected)
            assert sum(total.volumes for total in totals) == len(expected)
            assert sum(total.usd_before or 0 for total in totals) == pytest.approx(
                sum(one.monthly_usd_now for one in ours)
            )
            assert sum(total.usd_after or 0 for total in totals) == pytest.approx(
                sum(one.monthly_usd_now for one in theirs)
            )
            head = json.loads("".join(json_diff(diff)))
            same = diff.totals[DiffGroup.SAME].volumes if DiffGroup.SAME in diff.totals else 0
            assert len(head["volumes"]) + same == len(expected)
            if status == "interrupted":
                assert not {DiffGroup.GONE} & set(diff.totals)


@settings(max_examples=examples(10))
@given(st.lists(answers, max_size=8))
def test_a_run_has_no_difference_from_itself(choices):
    with TemporaryDirectory() as place:
        run, records = built(Path(place) / "run", choices, "complete")
        with compare_runs(run, run) as diff:
            assert set(diff.totals) <= {DiffGroup.OPEN, DiffGroup.SAME, DiffGroup.UNANSWERED}
            assert (diff.saved.usd, diff.repriced) == (0, (0, 0))
            assert all("attached to nothing" in note for note in notes(diff))
            open_ = diff.totals[DiffGroup.OPEN].volumes if DiffGroup.OPEN in diff.totals else 0
            assert open_ == sum(one.action in {*CHANGES, "detached"} for one in records)


# ---- why


def with_demand(record, **fields):
    return record.model_copy(update={"demand": record.demand.model_copy(update=fields)})


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (with_demand(MOVE, peak_iops=900.0), "peak 200, now 900 IOPS"),
        (with_demand(MOVE, peak_iops=200.5, peak_throughput_mib_s=99.0), "peak 10, now 99 MiB/s"),
        (with_demand(MOVE, peak_iops=200.5), "peak 200, now 200.5 IOPS"),
        (with_demand(MOVE, censored=True, peak_iops=900.0), "demand stood at a ceiling no, now yes"),
        (MOVE.model_copy(update={"hosts": []}), "attached to i-1, now nothing"),
        (MOVE.model_copy(update={"monthly_usd_then": 10.0}), "price of the offer 40, now 10 USD a month"),
        (MOVE, "no figure of the volume differs: the policy, the limits or the measurements do"),
    ],
)
def test_another_answer_is_told_with_the_first_figure_that_moved(tmp_path, after, why):
    target = SpecRecord(type="gp3", size_gib=500, iops=9000, throughput_mib_s=250)
    runs = [
        a_run(tmp_path / "before", [MOVE]),
        a_run(tmp_path / "after", [after.model_copy(update={"target": target})]),
    ]
    assert told(*runs)["vol-1"] == (DiffGroup.CHANGED, why)


def test_what_was_altered_says_what_was_recommended_and_what_failed_says_why(tmp_path):
    other = grown(MOVE)
    before = a_run(tmp_path / "before", [MOVE, KEEP.model_copy(update={"volume_id": "vol-2"})])
    after = a_run(tmp_path / "after", [other], unanswered=[an_unanswered("vol-2", reason="Throttled")])
    assert told(before, after) == {
        "vol-1": (DiffGroup.ALTERED, "recommended was gp3 500 GiB 3,000 IOPS 125 MiB/s"),
        "vol-2": (DiffGroup.FAILED, "Throttled"),
    }


def test_policies_and_places_that_differ_are_told(tmp_path):
    before = a_run(tmp_path / "before", [MOVE])
    after = a_run(
        tmp_path / "after", [MOVE], policy=Policy(headroom_pct=30.0), failed_places={"profile prod": "BadCredentials"}
    )
    with compare_runs(before, after) as diff:
        assert list(notes(diff)) == [
            "The policy differs: headroom_pct was 20.0, now 30.0.",
            "Not read any more: profile prod: BadCredentials",
        ]


# ---- shown


@pytest.fixture
def two_runs(tmp_path):
    names = [*HOSTILE, "[red]name[/red]"]
    records = [MOVE.model_copy(update={"volume_id": f"vol-{at:017}", "name": name}) for at, name in enumerate(names)]
    after = [(moved, grown, lambda one: with_demand(one, peak_iops=900.0).model_copy(update={"action": "upgrade"}))]
    made = [after[0][at % 3](record) for at, record in enumerate(records)]
    return a_run(tmp_path / "before", records), a_run(tmp_path / "after", made)


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_shows_ids_whole_and_fits(two_runs, width):
    console = Console(width=width, record=True, file=None)
    with compare_runs(*two_runs) as diff, console.capture() as captured:
        show_diff(console, diff, 0)
    lines = captured.get().splitlines()
    assert max(map(cell_len, lines)) <= width
    for number in range(len(HOSTILE)):
        assert f"vol-{number:017}" in captured.get()


def test_the_terminal_counts_what_it_does_not_list(two_runs):
    console = Console(width=160)
    with compare_runs(*two_runs) as diff, console.capture() as captured:
        show_diff(console, diff, 1)
        done = diff.totals[DiffGroup.DONE].volumes
    assert f"{done - 1} more; --rows 0 shows all." in captured.get()


def test_markdown_has_the_totals_and_no_tag_of_a_name(two_runs):
    with compare_runs(*two_runs) as diff:
        text = markdown_diff(diff)
    page = shown(text)
    assert "all" in page.text
    assert len(text) <= MOST_ON_GITHUB
    assert set(page.tags) <= {"h1", "h2", "p", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}


def test_runs_without_a_volume_differ_in_nothing(tmp_path):
    empty, other = a_run(tmp_path / "empty"), a_run(tmp_path / "other")
    with compare_runs(empty, other) as diff:
        assert dict(diff.totals) == {}
        assert diff_headline(diff) == "Nothing saved since; nothing still open that can save."
        assert json.loads("".join(json_diff(diff)))["volumes"] == []
