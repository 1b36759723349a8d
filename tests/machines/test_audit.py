"""The synthesized audit, executed: what it finds, and what of it goes on when a part fails."""

from datetime import UTC, datetime

import pytest

from cloud_simulator.aws.organization import organization
from plimsoll_service.config import ServiceConfig

from .audits import by_command, by_machine, in_tables, run_audit
from .deployment import deployed
from .fleets import a_small_organization

pytestmark = pytest.mark.once


def an_organization():
    return organization(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(a_small_organization, id="small"),
        pytest.param(an_organization, id="whole", marks=pytest.mark.release),
    ],
)
def fleet(request):
    return request.param()


def test_the_machine_finds_what_the_command_line_finds(templates, fleet, tmp_path):
    config = ServiceConfig(accounts=fleet.accounts, regions=fleet.regions, policy={"lookback_days": 3})
    with deployed(templates, fleet, tmp_path, config=config) as service:
        ended = run_audit(service, "first")
        assert (ended.status, ended.cause) == ("SUCCEEDED", None)
        found = by_machine(service, "first")
        expected = by_command(service, "first", tmp_path / "run")
        rows = in_tables(service, "first", "recommendations", tmp_path)

        assert found.recommendations == expected.recommendations
        assert found.told == expected.told
        assert ended.output["volumes"] == len(fleet.volumes)
        kept = rows.project("account, region, volume_id, action, monthly_usd_saved").fetchall()
        assert {
            (*place, one["action"], one["monthly_usd_saved"]) for place, one in found.recommendations.items()
        } == set(kept)
