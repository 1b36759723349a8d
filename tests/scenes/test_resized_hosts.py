"""Scenes of hosts that were resized inside the window, through the whole pipeline."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pytest

from cloud_simulator.aws.volume_maker import gp2, io
from tests.scenes.account import audited
from tests.scenes.answers import check
from tests.scenes.scene import Scene, migrate, wait
from tests.scenes.work import Does, Work

pytestmark = pytest.mark.once

YESTERDAY_H: Final = 20.0
NINE_DAYS_H: Final = 216.0
"""Hours since a host was resized. Within a week its new type alone would make a reduction wait."""


def _one_minute(iops: float) -> Does:
    """Idle but for one minute two days ago."""
    return lambda t: Work(np.where(t.once(50), iops, 1.0), io_kib=4.0)


def _pair(name: str, beside: float) -> tuple[Scene, Scene]:
    """Two volumes of a host that was an m5.large, which carries 18,750 IOPS for half an hour a day, 3,600 sustained."""
    bound = beside > 10_000
    was = ("m5.large", YESTERDAY_H if bound else NINE_DAYS_H)
    here: Mapping[str, Any] = {"host": "m5.24xlarge", "host_id": name, "host_was": was}
    cut, kept = migrate(("gp3", 800, 3000, 125), 816.0), wait("2026-11-26")
    return (
        Scene(
            name=f"{name}-ours",
            spec=io("io2", 800, 12_000),
            does=_one_minute(2400),
            right=kept if bound else cut,
            why="With its neighbor it stood at the 18,750 IOPS of the host, which carries more since yesterday."
            if bound
            else "Its host was never the limit, whatever it was.",
            **here,
        ),
        Scene(
            name=f"{name}-beside",
            spec=gp2(5500),
            does=_one_minute(beside),
            right=migrate(("gp3", 5500, 16_000, 250), 40.0) if bound else migrate(("gp3", 5500, 3000, 125), 110.0),
            why="A drop-in replacement gives nothing up, so it does not wait." if bound else "Nearly idle.",
            **here,
        ),
    )


SCENES: Final = (*_pair("at-its-limit", 16_000), *_pair("far-from-it", 100))


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("runs") / "resized"
    return audited(SCENES, folder)[0]


@pytest.mark.parametrize("scene", SCENES, ids=lambda one: one.name)
def test_the_answer_is_what_was_written_down(records, scene):
    check(records[scene.name], scene.right, scene.why)
