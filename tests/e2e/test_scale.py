"""The audit of a whole organization of thousands of volumes: the same answers, in memory that a function has."""

from datetime import UTC, datetime

from cloud_simulator.aws.organization import organization
from plimsoll_service.config import ServiceConfig
from tests.machines.audits import by_command, by_machine, in_tables, run_audit
from tests.machines.deployment import deployed

VOLUMES = 2000
LONGEST_S = 1800


def test_two_thousand_volumes_in_three_accounts_get_what_the_command_line_gives_them(templates, tmp_path):
    fleet = organization(datetime.now(UTC).replace(microsecond=0), volumes=VOLUMES)
    config = ServiceConfig(accounts=fleet.accounts, regions=fleet.regions)
    with deployed(templates, fleet, tmp_path, config=config) as service:
        ended = run_audit(service, "large", within_s=LONGEST_S)
        assert (ended.status, ended.output["volumes"]) == ("SUCCEEDED", len(fleet.volumes))
        found, expected = by_machine(service, "large"), by_command(service, "large", tmp_path / "run")

        assert found.recommendations == expected.recommendations
        assert found.told == expected.told
        rows = in_tables(service, "large", "recommendations", tmp_path)
        assert rows.shape[0] == len(found.recommendations)
        for function, peak_mib in service.account.front.peaks_mib.items():
            assert peak_mib < service.function(function).memory_mib, function
        lots = [event["lot"] for event in service.account.front.invoked["audit_batch"]]
        assert sum(len(lot["batches"]) for lot in lots) >= VOLUMES / 500
