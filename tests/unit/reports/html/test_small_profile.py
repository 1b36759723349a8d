"""Profiles as the page has them: read again, no rate is further off than half a step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from plimsoll.reports.html.volume_blocks import HOW, shrink_profile
from plimsoll.reports.record import DemandProfileRecord
from tests.profiles import examples
from tests.unit.reports.recommendations import a_profile


def read_again(written):
    """The rates by series, as the page's script reads them."""
    steps = {}
    for name, other in HOW["beside"].items():
        past, steps[name] = 0, []
        for at, one in enumerate(written[name]):
            found = None if one is None else one + ((steps[other][at] or 0) if other else past)
            past = past if found is None else found
            steps[name].append(found)
    return {
        name: [one if not one else HOW["least"] * HOW["step"] ** (one - 1) for one in found]
        for name, found in steps.items()
    }


RATES = some.lists(some.none() | some.just(0.0) | some.floats(1e-4, 1e6), min_size=1, max_size=12)


@settings(max_examples=examples(200), deadline=None)
@given(RATES, some.randoms(use_true_random=False))
def test_rates_are_read_again_to_a_quarter_of_a_percent(rates, random):
    profile = a_profile(rates)
    other = {name: random.sample(rates, len(rates)) for name in HOW["beside"]}
    profile = profile.model_copy(update=other)
    for name, found in read_again(shrink_profile(profile)).items():
        for one, before in zip(found, other[name], strict=True):
            assert one == before if not before else one == pytest.approx(before, rel=0.0026)


def test_nothing_else_is_changed_and_every_series_of_rates_is_there():
    profile = a_profile((100.0, None, 300.0))
    whole, written = profile.model_dump(), shrink_profile(profile)
    rates = {
        name for name, field in DemandProfileRecord.model_fields.items() if "float | None" in str(field.annotation)
    }
    assert set(HOW["beside"]) == rates
    assert set(written) == set(whole) - {"account", "region", "volume_id"}
    assert all(written[name] == whole[name] for name in set(written) - rates)
