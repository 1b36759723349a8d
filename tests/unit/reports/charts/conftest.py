"""The library of measured envelopes, read once."""

import pytest

from plimsoll.bootstrap.envelopes import envelope_library


@pytest.fixture(scope="session")
def library():
    return envelope_library().envelopes
