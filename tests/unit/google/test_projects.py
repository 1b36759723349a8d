"""The projects of an audit: by id or number, under folders and organizations, or the environment's own."""

import pytest
from google.cloud.resourcemanager_v3 import Folder, Project

from plimsoll.model.errors import AccessDenied, ApiDisabled, BadCredentials, BadInput, CloudError
from plimsoll.ports import FailedTarget
from plimsoll_google.projects import projects_in
from tests.unit.google.google_here import denied, disabled, refusal

ACTIVE = {"state": "ACTIVE"}


def project(name, **fields):
    return Project(project_id=name, **{**ACTIVE, **fields})


def folder(number, **fields):
    return Folder(name=f"folders/{number}", **{**ACTIVE, **fields})


def split(found):
    return [one for one in found if isinstance(one, str)], [one for one in found if isinstance(one, FailedTarget)]


def test_named_projects_are_taken_as_they_are_each_once(google, clients):
    assert projects_in(clients, projects=["shop-1", "data-1", "projects/shop-1"]) == ["shop-1", "data-1"]
    assert google.asked == []


def test_a_number_is_the_id_that_it_stands_for(google, clients):
    google.numbers["471100000000"] = "shop-1"
    assert projects_in(clients, projects=["471100000000"]) == ["shop-1"]


def test_a_number_that_cannot_be_seen_costs_itself_alone(google, clients):
    google.refused["resourcemanager.projects.get", "471100000000"] = refusal(403, "PERMISSION_DENIED", "no")
    ids, (failed,) = split(projects_in(clients, projects=["471100000000", "shop-1"]))
    assert ids == ["shop-1"]
    assert failed.name == "471100000000"
    assert "resourcemanager.projects.get" in str(failed.error)


@pytest.mark.parametrize("name", ["Shop", "my project", "abc", "-shop-1", "shop-1-", ""])
def test_what_is_no_id_is_bad_input(clients, name):
    with pytest.raises(BadInput, match="gcloud projects list"):
        projects_in(clients, projects=[name])


@pytest.mark.parametrize("named", [{"folders": ["shop"]}, {"organizations": ["example.com"]}])
def test_what_is_no_number_of_a_folder_or_organization_is_bad_input(clients, named):
    with pytest.raises(BadInput, match=r"is no number of .* list`"):
        projects_in(clients, **named)


def test_an_id_may_stand_under_a_domain(clients):
    assert projects_in(clients, projects=["example.com:shop-1"]) == ["example.com:shop-1"]


@pytest.mark.parametrize("named", ["1", "folders/1"])
def test_a_folder_is_its_active_projects_and_those_of_all_folders_below(google, clients, named):
    google.below = {
        "folders/1": [
            project("shop-1"),
            project("gone-1", state="DELETE_REQUESTED"),
            project("shop-2"),
            project("shop-3"),
            folder(2),
            folder(9, state="DELETE_REQUESTED"),
        ],
        "folders/2": [project("data-1"), folder(3)],
        "folders/3": [project("data-2")],
        "folders/9": [project("old-1")],
    }
    assert projects_in(clients, folders=[named]) == ["shop-1", "shop-2", "shop-3", "data-1", "data-2"]


def test_an_organization_is_the_projects_of_its_folders_and_its_own(google, clients):
    google.below = {"organizations/7": [project("shop-1"), folder(2)], "folders/2": [project("data-1")]}
    assert projects_in(clients, organizations=["7"]) == ["shop-1", "data-1"]


@pytest.mark.parametrize("projects", [["shop-1", "shop-1"], ["shop-1", "shop-2", "shop-1"]])
def test_a_project_that_is_listed_twice_may_hide_another_which_is_named(google, clients, projects):
    google.below = {"folders/1": [project(name) for name in projects]}
    ids, (failed,) = split(projects_in(clients, folders=["1"]))
    assert ids == sorted(set(projects))
    assert failed.name.startswith("folders/1")
    assert "shop-1 twice" in str(failed.error)


def test_lists_and_folders_add_up_each_project_once(google, clients):
    google.below = {"folders/1": [project("shop-1"), project("data-1")]}
    assert projects_in(clients, projects=["shop-1", "lab-11"], folders=["1"]) == ["shop-1", "lab-11", "data-1"]


@pytest.mark.parametrize("permission", ["resourcemanager.projects.list", "resourcemanager.folders.list"])
def test_a_folder_below_that_may_not_be_listed_costs_itself_alone(google, clients, permission):
    google.below = {"folders/1": [project("shop-1"), folder(2), folder(3)], "folders/3": [project("data-1")]}
    google.refused[permission, "folders/2"] = refusal(403, "PERMISSION_DENIED", "The caller does not have permission")
    ids, (failed,) = split(projects_in(clients, folders=["1"]))
    assert ids == ["shop-1", "data-1"]
    assert failed.name == "folders/2"
    assert isinstance(failed.error, AccessDenied)
    assert f"for {permission} in folders/2" in str(failed.error)
    assert "roles/browser" in str(failed.error)


def test_a_folder_without_projects_says_so(clients):
    (failed,) = projects_in(clients, folders=["1"])
    assert "folders/1 has no active project" in str(failed.error)


def test_resource_manager_switched_off_is_said_for_the_project_that_calls_count_for(google, clients):
    google.refused["resourcemanager.projects.list", "*"] = disabled("x", "cloudresourcemanager.googleapis.com")
    (failed,) = projects_in(clients, folders=["1"])
    assert isinstance(failed.error, ApiDisabled)
    assert "gcloud services enable cloudresourcemanager.googleapis.com --project 4711" in str(failed.error)


def test_a_folder_that_is_not_there_is_said(google, clients):
    google.refused["resourcemanager.projects.list", "folders/1"] = refusal(404, "NOT_FOUND", "Folder not found.")
    (failed,) = projects_in(clients, folders=["1"])
    assert isinstance(failed.error, CloudError)
    assert "it is not there (Folder not found)" in str(failed.error)


def test_without_a_name_it_is_the_environment_s_project(clients, monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "shop-1")
    assert projects_in(clients) == ["shop-1"]


def test_without_any_project_the_remedy_is_said(clients, monkeypatch):
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    with pytest.raises(BadInput, match="--project, or set GOOGLE_CLOUD_PROJECT"):
        projects_in(clients)


def test_without_credentials_the_default_project_is_what_fails(signed_out):
    (failed,) = projects_in(signed_out)
    assert failed.name == "the default project"
    assert isinstance(failed.error, BadCredentials)


def test_a_denial_in_compute_engine_s_words_is_one_too(google, clients):
    google.refused["resourcemanager.projects.get", "471100000000"] = denied("x", "y")
    (failed,) = projects_in(clients, projects=["471100000000"])
    assert isinstance(failed.error, AccessDenied)
