"""How volumes answered is read for changes alone, and once more where a series has no point."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np

from plimsoll.auditing.read import with_signals
from plimsoll.decide.answer import Change, Keep
from plimsoll.model.errors import Unexpected
from plimsoll.refine.member import Judged
from tests.builders import a_basis, a_demand, a_volume, decision

CHANGED = decision(a_volume("gp2", 500, id="vol-1"), a_demand([100.0] * 2880, [1.0] * 2880))
KEPT = decision(a_volume("gp3", 500, id="vol-2", iops=3000, throughput_mib_s=125), a_demand([9.0] * 2880, [1.0] * 2880))


def read(*answers):
    """The decisions with signals where these are what is answered, call by call, and how many volumes were asked for
    in each."""
    assert isinstance(CHANGED, Change)
    assert isinstance(KEPT, Keep)
    asked, rest = [], list(answers)

    def answer(asks):
        asked.append(len(asks))
        return rest.pop(0)

    metrics = SimpleNamespace(read=answer, visible_after_s=0)
    ports = SimpleNamespace(metrics=metrics, stages=SimpleNamespace(stage=lambda *_: nullcontext()))
    decisions = {one.volume.id: Judged(recommendation=one, profile=None, demand=None) for one in (CHANGED, KEPT)}
    return with_signals(decisions, ports, a_basis()), asked


def stalled(*minutes):
    return {"stalled_minutes": np.array(minutes)}


def test_only_changes_are_asked_for_and_once_where_all_is_there():
    found, asked = read([stalled(1.0, 2.0)])
    assert asked == [1]
    assert found["vol-1"].recommendation.signals.stalled_minutes == 3.0
    assert found["vol-2"].recommendation == KEPT


def test_what_is_missing_once_changes_nothing_and_what_stays_missing_is_not_known():
    found, asked = read([stalled(1.0, np.nan)], [stalled(1.0, 2.0)])
    assert asked == [1, 1]
    assert found["vol-1"].recommendation.signals.stalled_minutes == 3.0
    found, _ = read([stalled(1.0, np.nan)], [Unexpected("no answer.")])
    signals = found["vol-1"].recommendation.signals
    assert (signals.stalled_minutes, signals.days_observed) == (1.0, 1)


def test_what_cannot_be_read_is_told_beside_the_change():
    found, asked = read([Unexpected("no answer.")])
    assert asked == [1]
    assert "no answer." in found["vol-1"].recommendation.reasons[-1]
    assert found["vol-1"].recommendation.signals is None
