"""Three laws of offers: a larger budget, less headroom or a higher ceiling of the offered type is never dearer.

They hold for the cheapest offer that passes. What is chosen also knows drop-in replacements, relief and waiting.
"""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.type_offers import Makers
from plimsoll.model.ceiling import Need
from plimsoll.model.market import FromIops, Provisioned
from plimsoll.model.policy import OfferPurpose
from tests.builders import TYPES, a_case, a_demand, a_host, a_market, a_policy, a_volume, decision
from tests.profiles import examples

MINUTES = 2 * 1440
SPECS = (
    {"type": "gp2", "size_gib": 100},
    {"type": "gp2", "size_gib": 1500},
    {"type": "gp3", "size_gib": 500, "iops": 3000, "throughput_mib_s": 125},
    {"type": "gp3", "size_gib": 500, "iops": 16_000, "throughput_mib_s": 1000},
    {"type": "io1", "size_gib": 500, "iops": 6000},
    {"type": "io2", "size_gib": 500, "iops": 20_000},
)
SLOW = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def volumes(draw):
    """A volume with two days of a level, some spikes and perhaps some raised checks."""
    spec = draw(st.sampled_from(SPECS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = draw(st.sampled_from([50.0, 900.0, 2900.0, 7000.0])) * (0.6 + 0.4 * rng.random(MINUTES))
    spikes = rng.integers(0, MINUTES, draw(st.integers(0, 60)))
    iops[spikes] *= draw(st.sampled_from([1.5, 4.0]))
    mib_s = iops * draw(st.sampled_from([4.0, 16.0, 64.0])) / 1024
    flags = np.zeros(MINUTES, dtype=np.bool_)
    flags[rng.integers(0, MINUTES, draw(st.sampled_from([0, 0, 1, 40])))] = True
    no_flags = np.zeros(MINUTES, dtype=np.bool_)
    demand = a_demand(
        list(iops), list(mib_s), read_iops=iops / 2, read_throughput_mib_s=mib_s / 2,
        iops_exceeded=flags, throughput_exceeded=no_flags,
    )  # fmt: skip
    host = a_host(draw(st.sampled_from(["m5.24xlarge", "m5.large"])))
    return a_volume(on=host, **spec), demand


def cheapest(volume, demand, *, market=None, **keys):
    """The price of the cheapest offer that passes; infinite where none does."""
    policy = a_policy(target_types=("gp2", "gp3", "io1", "io2"), **keys)
    found = decision(volume, demand, policy, market=market)
    return min((one.usd_month for one in found.comparison.offers if one.feasible), default=np.inf)


@SLOW
@given(volumes(), st.sampled_from([(0, 30), (0, 300), (60, 600), (600, 6000)]))
def test_a_larger_budget_is_never_dearer(made, budgets):
    less, more = (cheapest(*made, throttle_budget_min=budget) for budget in budgets)
    assert more <= less + 1e-9


@SLOW
@given(volumes(), st.sampled_from([(0, 20), (20, 50), (10, 200)]), st.sampled_from([0, 300]))
def test_less_headroom_is_never_dearer(made, headrooms, budget):
    less, more = (cheapest(*made, headroom_pct=headroom, throttle_budget_min=budget) for headroom in headrooms)
    assert less <= more + 1e-9


@SLOW
@given(volumes(), st.sampled_from(["gp2", "gp3", "io1", "io2"]), st.sampled_from([0, 300]))
def test_a_higher_ceiling_of_the_offered_type_is_never_dearer(made, name, budget):
    volume, _ = made
    if volume.spec.type == name:
        return
    usual, higher = a_market(), a_market()
    higher = replace(higher, types={**TYPES, name: raised(TYPES[name])})
    before, after = (cheapest(*made, market=market, throttle_budget_min=budget) for market in (usual, higher))
    assert after <= before + 1e-9


@SLOW
@given(volumes(), st.sampled_from([0.0, 5.0, 60.0]), st.sampled_from(list(OfferPurpose)))
def test_the_cheapest_alone_is_the_first_of_all(made, budget, purpose):
    case = a_case(*made, a_policy(target_types=("gp2", "gp3", "io1", "io2")))
    alone, every = (Makers([case], purpose, budget, lambda _case: Need()) for _ in range(2))
    first, found = every.bundles(budget)[0], alone.cheapest(budget)
    assert (found and found.offers[0].spec) == (first.offers[0].spec if first.feasible else None)


def raised(kind):
    """The type with half as much again of all that can be bought or follows."""
    iops, throughput = kind.iops, kind.throughput
    if isinstance(iops, Provisioned):
        iops = replace(iops, most=int(1.5 * iops.most), per_gib=1.5 * iops.per_gib)
    else:
        iops = replace(iops, per_gib=1.5 * iops.per_gib)
    if isinstance(throughput, Provisioned):
        throughput = replace(throughput, most=int(1.5 * throughput.most), per_iops=1.5 * throughput.per_iops)
    elif isinstance(throughput, FromIops):
        bands = tuple((up_to, 1.5 * per, 1.5 * cap) for up_to, per, cap in throughput.bands)
        throughput = replace(throughput, bands=bands)
    return replace(kind, iops=iops, throughput=throughput)
