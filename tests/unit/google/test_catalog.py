"""The catalog: every type that is sold can be asked for, and what may be changed in place is told by the data."""

import pytest

from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.answers import steps_text
from plimsoll_google.catalog import GoogleCatalog
from plimsoll_google.change_steps import is_in_place, is_regional
from tests.builders import a_volume

CATALOG = GoogleCatalog()


def test_it_is_googles():
    assert CATALOG.provider == "google"


@pytest.mark.parametrize("name", sorted(CATALOG.types))
def test_only_hyperdisks_are_given_other_figures_in_place(name):
    now = VolumeSpec(type=name, size_gib=2048, iops=20_000, throughput_mib_s=200)
    then = VolumeSpec(type=name, size_gib=2048, iops=10_000, throughput_mib_s=100)
    assert is_in_place(now, then, CATALOG.types) is name.startswith("hyperdisk-")


@pytest.mark.parametrize("name", sorted(CATALOG.types))
def test_what_is_kept_in_two_zones_is_regional(name):
    assert is_regional(name) is (CATALOG.types[name].zones > 1)


@pytest.mark.parametrize("name", sorted(CATALOG.types))
def test_every_type_can_be_changed_to_another(name):
    disk = a_volume(spec=VolumeSpec(type=name, size_gib=500), account="shop-prod", zone="us-central1-a+us-central1-b")
    target = VolumeSpec(type="pd-ssd" if name == "pd-balanced" else "pd-balanced", size_gib=500)
    assert "gcloud compute disks" in steps_text(CATALOG.change(disk, target).forth)
