"""What alike volumes share changes no answer, nor what is skipped where the least that is sold carries all."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.decide.products import MOST_ALIKE, Shelf
from plimsoll.demand.demand import scale_demand
from tests.builders import TYPES, a_basis, a_demand, a_policy, a_volume, decision, load_of
from tests.profiles import examples
from tests.unit.domain.strategies import policies, situations


def with_shelf(volume, demand, policy, shelf):
    """A case whose products come from a shelf that others have taken from."""
    return case_of(volume, demand, load_of(volume, demand), replace(a_basis(policy), shelf=shelf))


@given(st.lists(situations(policy=policies()), min_size=1, max_size=3), st.floats(0, 3))
@settings(max_examples=examples(300))
def test_what_is_shared_by_those_that_are_alike_changes_no_answer(found, times):
    shelf = Shelf()
    alike = [(volume, scale_demand(demand, times), policy) for volume, demand, policy in found]
    others = [(volume, demand, policy) for volume, demand, _ in found for _, _, policy in found]
    for situation in (*found, *alike, *others, *found):
        assert answer(with_shelf(*situation, shelf)) == answer(with_shelf(*situation, Shelf()))


@given(situations(policy=policies()), st.floats(0, 1))
@settings(max_examples=examples(300))
def test_the_least_that_is_sold_is_chosen_as_if_every_figure_had_been_weighed(situation, times):
    volume, demand, policy = situation
    demand = scale_demand(demand, times)
    weighed = with_shelf(volume, demand, policy, Shelf())
    for kind in TYPES.values():
        weighed.products.alike[kind.name] = replace(weighed.products.of(kind), floor=None)
    assert answer(with_shelf(volume, demand, policy, Shelf())) == answer(weighed)


def test_the_least_sold_is_offered_whatever_the_steps():
    """With steps of 500, 100 IOPS of io2 are a figure that is offered all the same."""
    volume, demand = a_volume("io2", 100, iops=2_000), a_demand([10.0], [0.1])
    for step in (100, 500):
        policy = a_policy(min_hours=0, iops_step=step, target_types=("io2",))
        products = with_shelf(volume, demand, policy, Shelf()).products
        assert products.of(TYPES["io2"]).floor[0].iops == 100
        assert decision(volume, demand, policy).target.spec.iops == 100


def test_no_more_kinds_of_volumes_are_kept_than_memory_is_meant_for():
    shelf, demand = Shelf(), a_demand([10.0], [0.1])
    for size_gib in range(1, MOST_ALIKE + 50):
        with_shelf(a_volume("gp3", size_gib, iops=3_000, throughput_mib_s=125), demand, a_policy(), shelf)
    assert len(shelf.kept) <= MOST_ALIKE
