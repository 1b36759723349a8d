"""Each of Google's scenes through the whole pipeline: one project with all of them, audited once."""

import pytest

from tests.scenes.answers import check
from tests.scenes.google_account import KNOWN, audited
from tests.scenes.google_table import SCENES

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return audited(SCENES, tmp_path_factory.mktemp("runs") / "google-scenes")


@pytest.mark.parametrize("scene", SCENES, ids=lambda one: one.name)
def test_the_answer_is_what_was_written_down(records, scene):
    if not scene.disk.keys() <= KNOWN:
        pytest.xfail("the simulator cannot say that of a disk yet")
    for name, right in scene.right.items():
        check(records[name], right, scene.why)
