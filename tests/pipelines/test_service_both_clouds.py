"""The service audits simulated accounts of AWS and projects of Google Cloud into one run, as `plimsoll audit` does."""

import os
from contextlib import contextmanager
from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS, organization
from cloud_simulator.faults import Fault
from cloud_simulator.google.resource_manager import ORGANIZATION
from cloud_simulator.running import running_google
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.orders import Order
from plimsoll.reports.run_files import PAGE
from plimsoll.run import carry_out
from plimsoll.settings import Settings
from plimsoll_service.bootstrap.google_places import GooglePlaces, google_places
from plimsoll_service.bootstrap.service import PlacesByCloud
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import every_target
from tests.service_loop import Loop, a_service, files, records, run_json

from .organization_here import a_config, aws_places, served_here

pytestmark = [pytest.mark.once, pytest.mark.release]

NOW = datetime.now(UTC)
POLICY = Policy(lookback_days=2)
DENIED = "plimsoll-sim-data"
HERE = AWS_REGIONS[1:]
"""One region of AWS's, which is enough beside Google's."""
COUNTED = ("volumes", "actions", "monthly_usd", "prices")


@pytest.fixture(scope="module")
def fleet():
    return organization(NOW)


@contextmanager
def both_here(fleet, *faults):
    """Accounts and projects, with this process pointed at them; gives the accounts and the projects."""
    with (
        served_here(fleet) as (accounts, _front),
        running_google(NOW, faults=faults) as projects,
        patch.dict(os.environ, projects.environment),
    ):
        yield accounts, projects


def parted(fleet, projects, folder):
    """The service's run in parts, small ones; its answer and the folder of its report."""
    config = a_config(fleet, regions=HERE, google_projects=projects.projects)
    clouds = {"aws": aws_places(fleet, config), "google": GooglePlaces(config=config, settings=Settings(), paced=False)}
    loop = Loop(service=a_service(config, PlacesByCloud(clouds=clouds), folder, NOW), now=NOW, batch_volumes=40)
    reported = loop.run()
    return loop, reported, files(loop.service, "first")


def as_a_whole(accounts, projects, folder):
    """The run.json of the command line's one run over both."""
    ledger = Ledger(path=folder / "ledger.json")
    google = Scope(clouds=("google",), projects=projects.projects)
    amazon = Scope(role_arns=accounts.role_arns, regions=HERE)
    worlds = [
        ports
        for scope in (amazon, google)
        for ports in ports_of(scope, Settings(), today=NOW.date(), ledger=ledger, paced=False)
    ]
    carry_out(Order(folder=folder, scope={}, policy=POLICY, now=NOW), worlds, lambda _progress, _outcome: None)
    return run_json(folder)


def test_one_run_over_both_clouds_answers_as_the_command_line_does_and_names_what_is_denied(fleet, tmp_path):
    denied = Fault(code="PERMISSION_DENIED", operation="disks.aggregatedList", account=DENIED)
    with both_here(fleet, denied) as (accounts, projects):
        whole = as_a_whole(accounts, projects, tmp_path / "whole")
        loop, reported, folder = parted(fleet, projects, tmp_path)
    found, run = records(folder), run_json(folder)
    assert found == records(tmp_path / "whole")
    assert {key: run[key] for key in COUNTED} == {key: whole[key] for key in COUNTED}
    assert {one["provider"] for one in found.values()} == {"aws", "google"}
    assert {batch.as_batch.target.provider for batch in loop.audited} == {"aws", "google"}
    assert {cloud: told["monthly_usd"] for cloud, told in run["clouds"].items()} == {
        cloud: told["monthly_usd"] for cloud, told in whole["clouds"].items()
    }
    assert (reported.status, reported.volumes) == ("partial", run["volumes"]["seen"])
    page = (folder / PAGE).read_text(encoding="utf-8")
    failed = run["failures"]["targets"]
    assert failed == whole["failures"]["targets"]
    assert [("compute.disks.list" in why, DENIED in place) for place, why in failed.items()] == [(True, True)]
    assert all(word in page for word in ("Google Cloud", projects.projects[0], ACCOUNTS[0]))


def test_a_project_of_a_folder_that_never_switched_compute_engine_on_has_no_disks_and_is_no_failure(monkeypatch):
    off = Fault(code="SERVICE_DISABLED", account=DENIED)
    with running_google(NOW, faults=[off]) as projects:
        for name, value in projects.environment.items():
            monkeypatch.setenv(name, value)
        whole = ServiceConfig(google_organizations=(ORGANIZATION,))
        named = ServiceConfig(google_projects=(DENIED,))
        found, refused = (list(every_target(google_places(config, Settings())["google"])) for config in (whole, named))
    assert {one.account for one in found} == {*projects.projects} - {DENIED}
    assert [(one.name, "gcloud services enable" in str(one.error)) for one in refused] == [(DENIED, True)]
