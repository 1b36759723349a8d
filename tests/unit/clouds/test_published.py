"""Each cloud's metrics are reckoned by what it asks for them, whoever reckons and whatever is installed."""

import subprocess
import sys

import pytest

from plimsoll.clouds.published import query_cost_of
from plimsoll.settings import Settings


def test_googles_tariff_is_by_series_returned():
    found = query_cost_of("google", Settings(google_usd_per_1000_series=0.0005, google_calls_per_s=50))
    assert found.usd_query * 1_000_000 == pytest.approx(0.5)
    assert found.calls_per_s == 50


def test_awss_tariff_is_that_of_the_settings():
    settings = Settings(usd_per_1000_metrics=0.02)
    found = query_cost_of("aws", settings)
    assert found.usd_query == pytest.approx(0.00002)
    assert (found.calls_per_s, found.datapoints_per_s) == (settings.calls_per_s, settings.datapoints_per_s)
    assert found.usd_hour_waited == settings.usd_hour_waited


def test_who_only_reckons_loads_nothing_of_googles():
    told = "import sys, plimsoll.clouds.published; sys.exit(any(name.startswith('google') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0


def test_types_of_every_cloud_and_evidence_of_one_load_no_wing():
    told = """
import sys
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.published import cloud_of, host_cap

assert (cloud_of("gp3"), cloud_of("pd-ssd"), cloud_of("floppy")) == ("aws", "google", None)
assert len(envelope_library().envelopes_of("aws")) > 20 and host_cap("m5.large", "gp3") is None
assert not [name for name in sys.modules if name.startswith("plimsoll_")]
assert envelope_library().envelopes_of("google") and host_cap("n2-standard-8", "pd-ssd") is not None
assert "plimsoll_google.machines" in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0
