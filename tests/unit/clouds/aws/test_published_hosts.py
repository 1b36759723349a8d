"""What hosts carry, as it ships for measurements: that of DescribeInstanceTypes, and not too old."""

from datetime import date

import pytest

from plimsoll.clouds.aws.hosts import described_limits
from plimsoll.clouds.aws.published_hosts import published_host, verified_on
from tests.instance_types import described


def test_the_figures_were_held_against_their_source_within_a_year():
    remedy = "renew data/hosts.yaml with python -m tests.instance_types"
    assert (date.today() - verified_on()).days < 365, remedy  # noqa: DTZ011


@pytest.mark.parametrize("every", [50])
def test_a_type_carries_what_an_audit_would_read_of_it(every):
    entries = list(described())
    for entry in entries[::every]:
        found = published_host(entry["InstanceType"])
        assert (None if found is None else found.limits) == described_limits(entry)


def test_a_type_that_nobody_knows_has_no_limits():
    assert published_host("m99.large") is None
