"""Google's REST APIs on loopback, and clients of them."""

import pytest

from plimsoll_google.clients import Clients
from tests.unit.google.google_here import google_here


@pytest.fixture
def google():
    with google_here() as there:
        yield there


@pytest.fixture
def clients(google):
    made = google.clients()
    yield made
    made.close()


@pytest.fixture
def signed_out(monkeypatch, tmp_path):
    """Clients of Google's own APIs on a machine without credentials, which does not ask whether it is Google's."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    made = Clients()
    yield made
    made.close()
