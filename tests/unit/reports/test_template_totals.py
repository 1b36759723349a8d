"""The groups of templates: a few numbers that merge in any order, and one change that fits all."""

from functools import reduce
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.reports.record import SpecRecord, TemplateOfferRecord, TemplateRecord
from plimsoll.reports.totals import RunTotals
from tests.profiles import examples
from tests.unit.reports.recommendations import a_record

KEPT = a_record("keep")


def a_part(
    usd_now, size_usd, iops=3000, mib_s=125, *, most_iops=16_000, kind="gp3", held=None, together=False, name="web"
):
    spec = SpecRecord(type=kind, size_gib=8, iops=iops, throughput_mib_s=mib_s)
    offer = TemplateOfferRecord(
        spec=spec,
        monthly_usd_size=size_usd,
        monthly_usd_iops=0.005 * (iops - 3000),
        monthly_usd_throughput=0.04 * (mib_s - 125),
        most_iops=most_iops,
        most_throughput_mib_s=1000,
    )
    return TemplateRecord(
        kind="auto-scaling",
        name=name,
        device="/dev/xvda",
        monthly_usd_now=usd_now,
        least_monthly_usd=1.0,
        least_hours=30.0,
        together=together,
        offer=None if held else offer,
        held=held,
    )


def a_member(number, *figures, **more):
    return KEPT.model_copy(update={"volume_id": f"vol-{number:03}", "template": a_part(*figures, **more)})


def changes(records):
    return RunTotals.add_up(records).summary()["templates"]


figures = st.tuples(
    st.floats(0.1, 9, allow_nan=False).map(lambda usd: round(usd, 6)),
    st.floats(0.1, 6, allow_nan=False).map(lambda usd: round(usd, 6)),
    st.sampled_from([3000, 3100, 4000]),
    st.sampled_from([125, 130, 200]),
)
fleets = st.lists(st.tuples(figures, st.sampled_from(["web", "db"])), min_size=1, max_size=12)


@settings(max_examples=examples(300))
@given(fleets)
def test_the_change_is_what_going_through_the_volumes_gives(fleet):
    records = [a_member(number, *one, name=name) for number, (one, name) in enumerate(fleet)]
    expected = {}
    for name in {name for _, name in fleet}:
        group = [one for one, other in fleet if other == name]
        iops, mib_s = max(one[2] for one in group), max(one[3] for one in group)
        each = 0.005 * (iops - 3000) + 0.04 * (mib_s - 125)
        saved = sum(now - size - each for now, size, _, _ in group)
        if len(group) > 1 and saved >= 1:
            expected[name] = iops, mib_s, len(group), round(saved, 2)
    found = {
        one["template"]: (
            one["target"]["iops"],
            one["target"]["throughput_mib_s"],
            one["volumes"],
            one["monthly_usd_saved"],
        )
        for one in changes(records)
    }
    assert found == expected


@settings(max_examples=examples(100))
@given(fleets, st.lists(st.integers(0, 12), max_size=4), st.randoms(use_true_random=False))
def test_parts_merge_in_any_order(fleet, cuts, chance):
    records = [a_member(number, *one, name=name) for number, (one, name) in enumerate(fleet)]
    edges = sorted({0, len(records), *(cut for cut in cuts if cut < len(records))})
    parts = [RunTotals.add_up(records[first:last]) for first, last in pairwise(edges)]
    chance.shuffle(parts)
    stored = [RunTotals.parse(part.plain) for part in parts]
    whole = reduce(lambda total, part: total.merge(part) or total, stored, RunTotals())
    assert whole.summary()["templates"] == changes(records)


def test_what_is_not_sold_for_the_smallest_is_no_change():
    fits = [a_member(1, 5.0, 1.0, most_iops=4000), a_member(2, 50.0, 9.0, 4000)]
    assert changes(fits)
    assert not changes([a_member(1, 5.0, 1.0, most_iops=3999), fits[1]])


def test_two_types_one_that_is_held_or_one_alone_are_no_change():
    many = [a_member(number, 5.0, 1.0) for number in range(4)]
    assert changes(many)
    assert not changes([*many, a_member(9, 5.0, 1.0, kind="io2")])
    assert not changes([*many, a_member(9, 5.0, 1.0, held="is throttled today")])
    assert not changes(many[:1])


def test_what_is_not_judged_yet_has_no_say():
    many = [a_member(number, 5.0, 1.0) for number in range(4)]
    unknown = a_member(9, 5.0, 1.0)
    unknown = unknown.model_copy(update={"template": unknown.template.model_copy(update={"offer": None})})
    assert changes([*many, unknown]) == changes(many)


def test_a_run_without_templates_says_so():
    run = RunTotals.add_up([KEPT]).summary()
    assert run["templates"] == []
    assert run["monthly_usd"]["saved_by_templates"] == 0
