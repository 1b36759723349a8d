"""Each scene through the whole pipeline: one account with all of them, audited once by the real readers."""

import pytest

from tests.scenes.account import audited
from tests.scenes.answers import check
from tests.scenes.table import SCENES
from tests.scenes.templates import CHANGES

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return audited(SCENES, tmp_path_factory.mktemp("runs") / "scenes")


@pytest.fixture(scope="module")
def records(found):
    return found[0]


@pytest.mark.parametrize("scene", [one for one in SCENES if not one.excluded], ids=lambda one: one.name)
def test_the_answer_is_what_was_written_down(records, scene):
    check(records[scene.name], scene.right, scene.why)


def test_the_changes_of_templates_are_what_was_written_down(found):
    changes = {one["template"]: one for one in found[1]["templates"]}
    assert changes.keys() == {name for name, expected in CHANGES.items() if expected is not None}
    for name, one in changes.items():
        assert tuple(one["target"].values()) == CHANGES[name]["target"]
        assert one["volumes"] == CHANGES[name]["volumes"]
        assert one["monthly_usd_saved"] == pytest.approx(CHANGES[name]["saved"], abs=0.011)


def test_what_is_excluded_is_not_answered(records):
    assert not {scene.name for scene in SCENES if scene.excluded} & records.keys()
