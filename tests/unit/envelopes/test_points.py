"""The public points: every cell of the table comes back, and rows of the seeds agree with the seeds."""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from plimsoll.bootstrap.envelopes import envelope_library

ROWS = list(
    csv.DictReader(
        (Path(__file__).parents[2] / "seeds" / "measured-points.csv").read_text(encoding="utf-8").splitlines()
    )
)
SEED_004 = [row for row in ROWS if row["source"] == "miztiik/ebs-gp3-perf"]
SEED_000 = [row for row in ROWS if row["source"] == "bitofsky/aws-ebs-benchmark"]
POINTS = [row for row in ROWS if row not in SEED_004 and row not in SEED_000]
DEVICES = {
    "md0": "gp3-raid0-2x4000-1000",
    "nvme1n1": "gp3-4000-1000",
    "nvme4n1": "io2-16000",
    "nvme5n1": "gp3-16000-1000",
}
TELLS_NO_FIGURE = {"ddir", "rw", "n_vol", "instance"}


@cache
def envelopes():
    return envelope_library(None).envelopes


def measurement(name, mode, block_kib):
    found = envelopes()[name].measurements
    (one,) = [one for one in found if (one.job.mode, one.job.block_kib) == (mode, float(block_kib))]
    return one


def points():
    return [
        (envelope, one)
        for envelope in envelopes().values()
        for one in envelope.measurements
        if one.provenance.campaign.startswith("public-points")
    ]


def is_of(row, envelope, one):
    """Whether a measurement is the one of a row: its source, shape and, as a device's two directions, its figures."""
    told = dict(one.printed)
    side = f"{row['ddir']}." if "read.iops" in told else ""
    pairs = [(told.get(f"{side}iops"), row["iops"]), (told.get(f"{side}mib_s") or told.get("throughput"), row["mibps"])]
    return (
        (told["source"], told["path"], one.job.mode, f"{one.job.block_kib:g}")
        == (row["source"], row["path"], row["rw"], row["bs_kib"])
        and (envelope.host_type or "") == row["instance"]
        and told["engine"] == row["engine"]
        and told.get("numjobs", told.get("numjobs_told")) == row["numjobs"]
        and (one.note or "") == row["note"]
        and all((have or "").removesuffix(" MiB/s") == want for have, want in pairs)
    )


@pytest.mark.parametrize("row", POINTS, ids=[f"{row['source'][:12]}-{n}" for n, row in enumerate(POINTS)])
def test_every_cell_of_a_row_comes_back_with_its_source(row):
    ((envelope, one),) = [found for found in points() if is_of(row, *found)]
    spec = envelope.spec
    told = {text.removesuffix(" MiB/s") if name == "throughput" else text for name, text in one.printed}
    told |= {one.note, f"{one.job.block_kib:g}"}
    told |= {str(figure) for figure in (spec.size_gib, spec.iops, spec.throughput_mib_s)}
    missing = {key: cell for key, cell in row.items() if cell and key not in TELLS_NO_FIGURE and cell not in told}
    assert not missing
    assert str(envelope.volumes) == row["n_vol"]


def test_no_public_point_is_there_twice_or_without_a_row():
    both_ways = sum(row["rw"] == "randrw" and row["ddir"] == "write" for row in POINTS)
    assert len(points()) == len(POINTS) - both_ways


@pytest.mark.parametrize("row", SEED_004, ids=[row["path"] for row in SEED_004])
def test_the_rows_of_seed_004_agree_with_it_and_lend_it_their_percentiles(row):
    name = DEVICES[re.search(r"threads_(\w+?)_randwrite", row["path"])[1]]
    one = measurement(name, "randwrite", row["bs_kib"])
    told = dict(one.printed)
    assert (told["iops"], told["mib_s_precise"], told["p50_us"], told["p99_us"]) == (
        row["iops"],
        row["mibps"],
        row["p50_us"],
        row["p99_us"],
    )
    assert abs(one.throughput_mib_s - float(row["mibps"])) <= 1
    assert (one.latency.percentile_us(50), one.latency.percentile_us(99)) == (
        float(row["p50_us"]),
        float(row["p99_us"]),
    )
    spec = envelopes()[name].spec
    provisioned = int(row["prov_mibps"]) if row["prov_mibps"] else None
    assert (spec.size_gib, spec.iops, spec.throughput_mib_s) == (
        int(row["size_gib"]),
        int(row["prov_iops"]),
        provisioned,
    )


@pytest.mark.parametrize("row", SEED_000, ids=[f"{row['vol']}-{row['rw']}" for row in SEED_000])
def test_the_rows_of_seed_000_agree_with_it_to_the_device_s_own_count(row):
    one = measurement({"gp2": "gp2-1tb", "gp3": "gp3-1tb-3000-250"}[row["vol"]], row["rw"], row["bs_kib"])
    assert dict(one.printed)["iops"] == row["iops"]
    assert (one.latency.percentile_us(50), one.latency.percentile_us(99)) == (
        float(row["p50_us"]),
        float(row["p99_us"]),
    )
    assert one.device_iops == pytest.approx(float(row["device_iops"]), abs=1)


def test_the_two_directions_of_a_mixed_run_are_one_measurement():
    (one,) = [one for one in envelopes()["gp2-100-c4.xlarge"].measurements if one.job.mode == "randrw"]
    assert (one.iops, one.throughput_mib_s) == (74 + 75, pytest.approx(74.7 + 75.2))
