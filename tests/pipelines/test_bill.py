"""A bill of the simulated organization beside its audit: the same money to the cent, at list and at net prices."""

from datetime import UTC, datetime, timedelta

import pytest

from cloud_simulator.aws.bills import charges_of, write_bill
from cloud_simulator.aws.organization import organization
from plimsoll.model.policy import Policy
from plimsoll.reports.run_reader import read_records
from plimsoll_bill.api import net_price_file, read_bill
from plimsoll_bill.reconcile import reconcile
from tests.pipelines.in_process import audited
from tests.pipelines.organization_here import served_here

NOW = datetime(2026, 10, 20, 12, tzinfo=UTC)
MONTH = NOW.date().replace(day=1)
DISCOUNTS = {r"P-IOPS\.gp3": 12.0, r"VolumeUsage\.gp2": 5.0}
LAYOUTS = [
    ("cur.parquet", {"discounts": "map"}),
    ("cur.csv", {"discounts": "lines"}),
    ("focus.parquet", {"layout": "focus"}),
]


@pytest.fixture(scope="module")
def fleet():
    return organization(NOW, volumes=80)


@pytest.fixture(scope="module")
def bills(fleet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bills")
    for name, options in LAYOUTS:
        write_bill(charges_of(fleet.volumes, MONTH, DISCOUNTS), MONTH, folder / name, **options)
    return folder


@pytest.fixture(scope="module")
def runs(fleet, bills, tmp_path_factory):
    """Two audits' records: at list prices, and at the net prices that the bill makes."""
    folder = tmp_path_factory.mktemp("runs")
    with read_bill([str(bills / "cur.parquet")]) as bill:
        text, notes = net_price_file(bill, "the bill")
    assert not notes
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    with served_here(fleet) as (there, _):
        for name, prices in (("list", None), ("net", str(folder / "net.yaml"))):
            audited(there, folder / name, NOW, Policy(lookback_days=1), prices=prices)
    return {name: read_records(folder / name) for name in ("list", "net")}


@pytest.mark.parametrize("name", [name for name, _ in LAYOUTS])
@pytest.mark.parametrize("prices", ["list", "net"])
def test_a_bill_and_an_audit_say_the_same_of_each_volume_to_the_cent(fleet, bills, runs, name, prices):
    with read_bill([str(bills / name)]) as bill:
        outcome = reconcile(bill, MONTH, "a run", runs[prices], is_net=prices == "net")
        assert not bill.find_unplaced()
    made = {volume.id: volume.created for volume in fleet.volumes}
    ends = datetime(2026, 11, 1, tzinfo=UTC) - timedelta(hours=1)
    priced = [record for record in runs[prices] if record.monthly_usd_now is not None]
    by_number = {record.volume_id for record in priced if record.current.type == "standard"}
    assert outcome.agreed == len([record for record in priced if made[record.volume_id] < ends]) - len(by_number)
    here = {record.volume_id for record in runs[prices]}
    differing = [entry for entry in outcome.differences if entry.billed is not None and entry.key[2] in here]
    assert {entry.key[2] for entry in differing} <= by_number
    assert {entry.run for entry in outcome.differences if entry.billed is None} <= {None}
    assert not outcome.foreign
    assert outcome.agreed > 60


def test_net_prices_are_the_money_of_recommendations(runs):
    listed = {record.volume_id: record for record in runs["list"]}
    net = {record.volume_id: record for record in runs["net"]}
    cheaper = [
        key for key, record in listed.items() if record.current.type == "gp2" and record.monthly_usd_now is not None
    ]
    assert cheaper
    for key in cheaper:
        assert net[key].monthly_usd_now == pytest.approx(listed[key].monthly_usd_now * 0.95, abs=0.01)
