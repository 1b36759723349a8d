"""Google's oracle gives each scene the answer that was written down."""

import pytest

from plimsoll.reading.window import Window
from tests.oracle.google import decide
from tests.oracle.google_fleet import plain
from tests.scenes.google_account import fleet_of
from tests.scenes.google_table import SCENES
from tests.scenes.work import NOW


@pytest.fixture(scope="module")
def answers():
    disks = fleet_of(SCENES).volumes
    found = decide([plain(disk, Window.before(NOW, days=14)) for disk in disks])
    return {disk.name: found[disk.id] for disk in disks}


@pytest.mark.parametrize("scene", SCENES, ids=lambda one: one.name)
def test_the_oracle_says_what_was_written_down(answers, scene):
    for name, right in scene.right.items():
        found = answers[name]
        assert found["action"] in right.action, scene.why
        if right.target is not None:
            assert tuple(found["target"].values()) == right.target, scene.why
        if right.saved is not None:
            assert found["usd_now"] - found["usd_then"] == pytest.approx(right.saved, abs=0.01), scene.why
