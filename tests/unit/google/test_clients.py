"""Clients: made once, of the credentials there are, with retries that end."""

import re
import threading

import pytest
import requests
from google.api_core import exceptions as api
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError
from google.cloud import compute_v1
from google.oauth2 import service_account

from plimsoll.model.errors import BadCredentials
from plimsoll_google.clients import SCOPES, Clients, GoogleRetry
from plimsoll_google.names import BILLING, COMPUTE, MONITORING, RESOURCE_MANAGER
from tests.unit.google.google_here import refusal

SHOP = "plimsoll-shop"
KINDS = [
    "disks",
    "region_disks",
    "instances",
    "regions",
    "metrics",
    "projects",
    "folders",
    "catalog",
]


def regions(clients):
    return [one.name for one in clients.regions.list(project=SHOP, retry=clients.retry, timeout=clients.waits.answer_s)]


@pytest.fixture
def at_once(monkeypatch):
    """Retries that do not wait."""
    monkeypatch.setattr("google.api_core.retry.retry_unary.time.sleep", lambda _: None)


@pytest.mark.parametrize("name", KINDS)
def test_a_client_is_made_once_for_all_threads(clients, name):
    found = []
    threads = [threading.Thread(target=lambda: found.append(getattr(clients, name))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in found}) == 1


def test_a_simulated_cloud_is_asked_without_credentials_or_encryption(google, clients):
    assert regions(clients) == list(google.regions)
    assert google.asked == [("compute.regions.list", SHOP)]


@pytest.mark.parametrize(
    "answer", [refusal(503, "UNAVAILABLE", "no"), refusal(429, "slow", "no"), refusal(500, "?", "no")]
)
def test_what_passes_is_asked_again(google, at_once, answer):
    clients = google.clients(attempts=3)
    google.refused["compute.regions.list", SHOP] = [answer, answer]
    assert regions(clients) == list(google.regions)
    clients.close()


def test_too_many_calls_in_the_older_words_are_asked_again(google, clients, at_once):
    google.refused["compute.regions.list", SHOP] = [refusal(403, "forbidden", "slow", "rateLimitExceeded")]
    assert regions(clients) == list(google.regions)


def test_attempts_are_counted_for_each_call(google, at_once):
    clients = google.clients(attempts=3)
    google.refused["compute.regions.list", SHOP] = refusal(503, "UNAVAILABLE", "no")
    for calls in (3, 6):
        with pytest.raises(api.ServiceUnavailable):
            regions(clients)
        assert google.calls() == {"compute.regions.list": calls}
    clients.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_stays_is_asked_once(google, clients, status):
    google.refused["compute.regions.list", SHOP] = refusal(status, "no", "no")
    with pytest.raises((api.GoogleAPICallError, GoogleAuthError)):
        regions(clients)
    assert google.calls()["compute.regions.list"] == 1


def test_a_connection_that_is_refused_is_tried_again(at_once):
    tried = []

    def call():
        tried.append(1)
        raise requests.ConnectionError("refused")

    with pytest.raises(requests.ConnectionError):
        GoogleRetry(4)(call)()
    assert len(tried) == 4


def test_a_client_after_closing_is_a_new_one(google, clients):
    before = clients.regions
    clients.close()
    assert regions(clients) == list(google.regions)
    assert clients.regions is not before


def test_any_client_that_speaks_rest_can_be_asked_for(clients):
    assert isinstance(clients.rest(compute_v1.SnapshotsClient), compute_v1.SnapshotsClient)


def test_without_credentials_the_remedy_is_said_each_time(signed_out):
    for _ in range(2):
        with pytest.raises(BadCredentials, match="gcloud auth application-default login"):
            _ = signed_out.disks


def test_without_a_simulated_cloud_it_is_google_that_is_asked():
    clients = Clients(credentials=AnonymousCredentials(), quota_project=SHOP)
    hosts = [getattr(clients, name).transport.host for name in ("disks", "projects", "catalog", "metrics")]
    assert [re.sub(r"^https://|:443$", "", host) for host in hosts] == [COMPUTE, RESOURCE_MANAGER, BILLING, MONITORING]
    clients.close()


def test_given_credentials_without_scopes_are_given_them():
    clients = Clients(credentials=service_account.Credentials(None, "plimsoll@shop.example", "https://token.example"))
    assert clients.disks.transport._credentials.scopes == SCOPES
    clients.close()


def test_given_credentials_are_used_and_the_project_is_the_environment_s(monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", SHOP)
    given = AnonymousCredentials()
    clients = Clients(credentials=given)
    assert clients.disks.transport._credentials is given
    assert clients.default_project == SHOP
    clients.close()
