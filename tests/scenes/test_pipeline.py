"""Each scene through the whole pipeline: one account with all of them, audited once by the real readers."""

import pytest

from tests.scenes.account import audited
from tests.scenes.answers import check
from tests.scenes.table import SCENES

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return audited(SCENES, tmp_path_factory.mktemp("runs") / "scenes")


@pytest.mark.parametrize("scene", [one for one in SCENES if not one.excluded], ids=lambda one: one.name)
def test_the_answer_is_what_was_written_down(records, scene):
    check(records[scene.name], scene.right, scene.why)


def test_what_is_excluded_is_not_answered(records):
    assert not {scene.name for scene in SCENES if scene.excluded} & records.keys()
