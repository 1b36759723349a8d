"""Campaigns of one configuration stand beside one another, with the difference."""

import pytest

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.same_configuration import find_same_configuration

LIBRARY = envelope_library(None).envelopes


def test_only_the_same_type_number_and_published_ceiling_stand_beside_one():
    for name, one in LIBRARY.items():
        for other in find_same_configuration(one, LIBRARY.values()):
            found = other.envelope
            assert found.name != name
            assert (found.provider, found.spec.type, found.volumes) == (one.provider, one.spec.type, one.volumes)
            assert found.published == one.published is not None


def test_the_difference_is_that_of_the_figures_and_both_ways_round():
    pairs = [(one, other) for one in LIBRARY.values() for other in find_same_configuration(one, LIBRARY.values())]
    assert pairs
    for one, other in pairs:
        (back,) = [
            found for found in find_same_configuration(other.envelope, LIBRARY.values()) if found.envelope is one
        ]
        for side in Resource:
            there = other.difference(side)
            if there is not None and there > -1:
                assert (1 + there) * (1 + back.difference(side)) == pytest.approx(1)
