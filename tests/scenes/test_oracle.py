"""The naive oracle gives each scene the answer that was written down."""

from datetime import UTC, datetime

import pytest

from tests.oracle.idle import idle_days
from tests.oracle.takeover import decide_with_peers
from tests.oracle.templates import change_of
from tests.scenes.account import REGION
from tests.scenes.offers import IDLE
from tests.scenes.table import SCENES
from tests.scenes.templates import CHANGES
from tests.scenes.to_oracle import (
    FIRST_MINUTE,
    MINUTES,
    busy_of_scene,
    days_of_scene,
    described,
    highest_of_scene,
    measured_on_host,
    minutes_of,
    past_of,
    policy_of,
    siblings_of,
)
from tests.scenes.work import NOW

pytestmark = pytest.mark.release


def asked(scene):
    """What the oracle is told of a scene."""
    return {
        "volume": described(scene) | {"measured": measured_on_host(scene, SCENES)},
        "minutes": minutes_of(scene),
        "siblings": siblings_of(scene, SCENES),
        "policy": policy_of(scene),
        "past": past_of(scene),
        "days": days_of_scene(scene),
        "busy": busy_of_scene(scene),
        "highest": highest_of_scene(scene),
    }


@pytest.mark.parametrize(
    "scene", [one for one in SCENES if one.stripe is None and not one.excluded], ids=lambda one: one.name
)
def test_the_oracle_says_what_was_written_down(scene):
    others = [asked(one) | {"excluded": one.excluded} for one in SCENES if scene.takes_over_from(one)]
    found = decide_with_peers(asked(scene), others, frontier=bool(scene.right.frontier))
    right = scene.right
    assert found["action"] in right.action, scene.why
    target = found["target"] and tuple(found["target"].values())
    if right.target is not None:
        assert target == right.target, scene.why
    if right.saved is not None:
        # What has no price now has none then, and saves nothing.
        saved = 0.0 if found["usd_now"] is None else found["usd_now"] - found["usd_then"]
        assert saved == pytest.approx(right.saved, abs=0.01), scene.why
    if right.relief is not None:
        assert tuple(found["relief"].values()) == right.relief, scene.why
    if right.full is not None:
        assert tuple(found["full"].values()) == right.full, scene.why
    if right.too_risky is not None:
        assert tuple(found["too_risky"].values()) == right.too_risky, scene.why
    if right.waits_until is not None:
        then = datetime.fromtimestamp((FIRST_MINUTE + found["settled_from"]) * 60, UTC)
        assert str(then.date()) == right.waits_until, scene.why
    for budget, usd in right.frontier.items():
        assert found["frontier"][budget] == pytest.approx(usd, abs=0.01), scene.why


@pytest.mark.parametrize("scene", [one for one in IDLE if one.takeover is None], ids=lambda one: one.name)
def test_the_oracle_says_whether_it_is_idle(scene):
    made_s = NOW.timestamp() - 3600 * scene.created_h
    found = idle_days(days_of_scene(scene), 60 * FIRST_MINUTE, MINUTES // 1440, made_s, policy_of(scene))
    assert (found is not None) == ("idle" in scene.right.codes), scene.why


@pytest.mark.parametrize("module", CHANGES)
def test_the_oracle_makes_the_change_of_a_template_that_was_written_down(module):
    found = change_of([asked(scene) for scene in SCENES if module in (scene.module, scene.group)], REGION)
    expected = CHANGES[module]
    assert found == (expected and {**expected, "saved": pytest.approx(expected["saved"], abs=0.011)})
