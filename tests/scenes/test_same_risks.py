"""The ordinary audit says each risk that the one of every minute says."""

import pytest

from tests.scenes.account import audited
from tests.scenes.losses import SCENES

pytestmark = pytest.mark.once

SECONDS = {"bursts-not-known", "bursts-above-offer", "seconds-above-limit"}
"""The reasons that say what single seconds may have asked for."""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return audited(SCENES, folder / "ordinary")[0], audited(SCENES, folder / "whole", every_minute=True)[0]


def test_what_seconds_may_have_asked_for_is_said_by_both(both):
    ordinary, whole = both
    said = {name for name, record in whole.items() if SECONDS & set(record["reason_codes"])}
    assert said <= {name for name, record in ordinary.items() if SECONDS & set(record["reason_codes"])}
    assert said


def test_both_say_the_same_of_limits_losses_and_risk(both):
    ordinary, whole = both
    for name, record in whole.items():
        for key in ("action", "target", "cuts", "losses"):
            assert ordinary[name][key] == record[key], name
