"""People ask in Slack for disks of a project as for volumes of an account; but nothing is measured there."""

from dataclasses import replace

import pytest

from tests.unit.service.projects import THERE, both, disks

from .asking import MEMBER, a_workplace, told

(DISK,) = disks(1)
NAME = f"{THERE}/{DISK.id}"


@pytest.fixture
def workplace(tmp_path):
    with a_workplace(tmp_path) as found:
        found.service = replace(found.service, places=both([DISK]))
        yield found


@pytest.mark.parametrize("name", [NAME, DISK.id])
def test_a_disk_is_explained_by_its_number_or_its_whole_name(workplace, name):
    place, view = workplace.view()
    workplace.ask("explain", volume=name, place=place)
    assert "answer: migrate to gp3 500 GiB" in told(view())


@pytest.mark.parametrize(("do", "more"), [("snooze", {"days": "30"}), ("done", {}), ("exclude", {"reason": "license"})])
def test_what_people_decide_of_a_disk_is_kept_under_its_project(workplace, do, more):
    workplace.ask(do, volume=NAME, **more)
    (decision,) = workplace.service.history.decided[THERE.account, THERE.region, DISK.id].values()
    assert (decision.kind.value, decision.by.endswith(MEMBER)) == (do, True)


def test_a_measurement_of_a_disk_is_refused_to_who_asks_and_nothing_is_begun(workplace):
    place, said = workplace.typed()
    workplace.ask("validate", volume=NAME, place=place)
    assert said()[0].startswith("nothing is measured in storage-prod/us-central1: the service has no bench")
    assert workplace.begun("validation") == {}
    assert workplace.service.history.decided == {}
