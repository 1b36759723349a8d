"""What is configured of Google Cloud: projects, folders, organizations, and credentials that are no key."""

import json

import pytest

from plimsoll.model.errors import BadInput
from plimsoll_service.config import ServiceConfig
from plimsoll_service.planning import begin_run
from tests.builders import NOW
from tests.federation import FakeGoogle
from tests.unit.service.places import places_of, service_of

CREDENTIALS = FakeGoogle(url="https://sts.googleapis.com").config()


def refused(**config):
    with pytest.raises(BadInput) as caught:
        ServiceConfig.parse(config)
    return str(caught.value)


def test_what_gcloud_writes_is_taken_as_it_is_and_written_again():
    more = {"universe_domain": "googleapis.com", "service_account_impersonation": {"token_lifetime_seconds": 1200}}
    config = ServiceConfig.parse({"google_projects": ["storage-prod"], "google_credentials": CREDENTIALS | more})
    assert config.audits_google
    assert ServiceConfig.parse(json.loads(config.to_text())) == config
    assert config.google_credentials is not None
    assert config.google_credentials.plain == CREDENTIALS | more


@pytest.mark.parametrize(
    "scope",
    [
        {"google_projects": ["storage-prod", "example.com:storage"]},
        {"google_folders": ["123456789012"]},
        {"google_organizations": ["organizations/123456789012"]},
    ],
)
def test_projects_may_be_named_or_be_those_of_a_folder_or_an_organization(scope):
    assert ServiceConfig.parse(scope).audits_google


def test_without_any_of_them_no_project_is_audited():
    assert not ServiceConfig.parse({"google_regions": ["us-central1"]}).audits_google


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"google_projects": ["Storage"]}, "google_projects.0 is 'Storage'"),
        ({"google_folders": ["prod"]}, "google_folders.0 is 'prod'"),
        ({"google_regions": ["us-central1-a"]}, "google_regions.0 is 'us-central1-a'"),
        ({"google_credentials": {"type": "authorized_user"}}, "of the type 'external_account', which `gcloud iam"),
        ({"google_credentials": CREDENTIALS | {"audience": "//iam.googleapis.com/x"}}, "google_credentials.audience"),
        ({"google_credentials": CREDENTIALS | {"token_url": "https://example.com/"}}, "google_credentials.token_url"),
        (
            {"google_credentials": CREDENTIALS | {"service_account_impersonation_url": "https://example.com/"}},
            "google_credentials.service_account_impersonation_url",
        ),
        ({"google_credentials": {**CREDENTIALS, "credential_source": {"file": "/t"}}}, "google_credentials.credential"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(given, said):
    assert said in refused(**given)


@pytest.mark.parametrize(
    "key", [{"type": "service_account", "private_key": "-----BEGIN"}, CREDENTIALS | {"client_secret": "-----BEGIN"}]
)
def test_a_key_is_refused_with_what_to_give_instead_and_is_not_repeated(key):
    said = refused(google_credentials=key)
    assert "a key is never kept here" in said
    assert "create-cred-config" in said
    assert "-----BEGIN" not in said


def test_the_order_of_a_run_says_which_projects_were_meant(tmp_path):
    service = service_of(places_of([]), tmp_path, google_projects=["storage-prod"], google_regions=["us-central1"])
    scope = begin_run(service.store, service.config, "first", NOW).scope
    assert (scope["clouds"], scope["projects"], scope["regions"]) == (
        ["aws", "google"],
        ["storage-prod"],
        ["us-central1"],
    )


def test_what_is_named_twice_is_audited_once():
    twice = {"regions": ["eu-west-1", "us-east-1", "eu-west-1"], "google_projects": ["shop-prod", "shop-prod"]}
    config = ServiceConfig.parse(twice)
    assert (config.regions, config.google_projects) == (("eu-west-1", "us-east-1"), ("shop-prod",))
