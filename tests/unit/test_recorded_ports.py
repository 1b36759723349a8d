"""Worlds of a recording: each cloud's is reckoned and described by what that cloud has."""

import json
import zipfile

import pytest

from plimsoll.bootstrap.consoles import console_link
from plimsoll.bootstrap.recordings import recorded_ports
from plimsoll.clouds.published import query_cost_of
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.settings import Settings
from tests.builders import NOW
from tests.unit.reports.recommendations import a_record


def a_recording(path, *clouds):
    about = {
        "format": 3,
        "now": NOW.isoformat(),
        "version": "9.1",
        "retention_days": {cloud: {"60": 15} for cloud in clouds},
        "targets": [],
    }
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("about.json", json.dumps(about))
    return path


def test_each_cloud_of_a_recording_has_its_own_tariff_and_catalog(tmp_path):
    settings = Settings(runs_dir=tmp_path, google_usd_per_1000_series=7, usd_per_1000_metrics=3)
    worlds, now = recorded_ports(a_recording(tmp_path / "audit.zip", "aws", "google"), settings)
    assert [ports.catalog.provider for ports in worlds] == ["aws", "google"]
    assert [ports.query_cost for ports in worlds] == [query_cost_of(cloud, settings) for cloud in ("aws", "google")]
    assert now == NOW


def test_a_recording_of_a_cloud_that_is_not_known_is_refused_with_who_made_it(tmp_path):
    path = a_recording(tmp_path / "audit.zip", "aws", "elsewhere")
    with pytest.raises(BadInput, match=r"audit\.zip is a recording of the cloud 'elsewhere'.* made by version 9\.1"):
        recorded_ports(path, Settings(runs_dir=tmp_path))


def test_a_disks_demand_is_looked_for_on_its_hosts_since_devices_have_names_of_their_own():
    disk = a_record(volume_id="9000", account="plimsoll-shop", zone="us-central1-a", provider="google")
    link = console_link(disk.model_copy(update={"hosts": ["4711"]}), Policy(), NOW)
    assert "instance_id" in link
    assert "4711" in link


def test_a_record_of_a_cloud_that_this_version_does_not_know_has_no_link():
    assert console_link(a_record(provider="abacus"), Policy(), NOW) == ""
