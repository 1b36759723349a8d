"""Sources are names that a person can open: in evidence, failed measurements, pictures and records."""

import re
from dataclasses import replace
from datetime import date

import pytest

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.decide.evidence import Place, evidence_for, failed_measurements
from plimsoll.envelopes.library import shipped_campaigns
from plimsoll.model.volume import VolumeSpec
from plimsoll.reports.envelope_json import as_data
from plimsoll.settings import Settings
from plimsoll_measure.adding import NewCampaign, add_campaign, to_new_result
from plimsoll_measure.readers.reading import read_results
from tests.builders import TYPES
from tests.unit.envelopes import test_evidence
from tests.unit.envelopes.test_evidence_against import fell_short
from tests.unit.measure.readers.outputs import a_job, a_side, fio_json

SHIPPED = envelope_library()
CAMPAIGNS = {path.stem for path in shipped_campaigns().glob("*.yaml")}
KEPT_FILE = re.compile(r"\d{3}_[0-9a-f]{16}|measured-points")
"""Names of files that only the authors of a campaign had."""
HERE = {"account": "111111111111", "region": "us-east-1"}
GP3 = VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125)


def is_for_people(told: str) -> bool:
    return bool(told) and not KEPT_FILE.search(told) and told not in {*CAMPAIGNS, *SHIPPED.envelopes}


@pytest.mark.parametrize("name", SHIPPED.envelopes)
def test_every_shipped_measurement_has_a_name_for_people_and_says_where_it_can_be_opened(name):
    for one in SHIPPED.envelopes[name].measurements:
        made = one.provenance
        assert is_for_people(made.cited)
        assert is_for_people(made.reference)
        assert not made.reference.endswith((":", ": "))
        assert not made.cited.startswith("your ")


PROVING = [name for name, one in SHIPPED.envelopes.items() if one.published is not None and one.volumes == 1]


@pytest.mark.parametrize("name", PROVING)
def test_evidence_cites_the_name_and_never_the_envelope(name):
    envelope = SHIPPED.envelopes[name]
    place = Place(**{**HERE, "provider": envelope.provider}, today=date(2026, 11, 26), max_age_days=180)
    found = evidence_for(
        type_name=envelope.spec.type,
        ceiling=envelope.published,
        need_iops=1.0,
        need_throughput_mib_s=1.0,
        envelopes=[envelope],
        place=place,
    )
    assert f"({name}," not in found.text
    assert all(one.provenance.cited in found.text for one in found.measurements)


@pytest.mark.parametrize(
    ("cited", "reference"),
    [
        ("an issue of Buildkite's Elastic CI Stack", "github.com/buildkite/elastic-ci-stack-for-aws/issues/682: issue"),
        ("easontechtalk.com (blog)", "easontechtalk.com (blog)"),
        ("Longhorn's sizing guide", "github.com/longhorn/longhorn: "),
    ],
)
def test_a_public_point_is_opened_where_it_was_published(cited, reference):
    every = [one.provenance for envelope in SHIPPED.envelopes.values() for one in envelope.measurements]
    opened = {made.reference for made in every if made.cited == cited}
    assert opened
    assert all(told.startswith(reference) for told in opened)


def an_import(folder, *, at=None, **fields):
    """The envelope of a user's own fio."""
    text = fio_json(a_job(options={"rw": "randread", "iodepth": "64"}, read=a_side(1_200)))
    new = NewCampaign(
        **{
            "name": "mine",
            "title": "gp3 500 GiB",
            "source": "imported from run-7.json",
            "measured_on": "2026-11-12",
            "provider": "aws",
            "spec": GP3,
            "results": tuple(to_new_result(one) for one in read_results(text, name="run-7.json")),
            **HERE,
            **fields,
        }
    )
    add_campaign(folder, new, TYPES)
    return envelope_library(folder, at).envelopes["mine"]


@pytest.mark.parametrize(
    ("measured_on", "cited"),
    [
        ("2026-11-12", "your measurement of 12 November 2026 on gp3 500 GiB"),
        ("2026-11", "your measurement of November 2026 on gp3 500 GiB"),
        ("2026", "your measurement of 2026 on gp3 500 GiB"),
    ],
)
def test_an_import_is_the_users_own_measurement_and_is_opened_in_its_file(tmp_path, measured_on, cited):
    made = an_import(tmp_path, measured_on=measured_on).measurements[0].provenance
    assert (made.cited, made.reference) == (cited, f"{cited} (fio): {tmp_path / 'mine.yaml'}")


def test_an_import_without_an_account_is_the_users_own_as_well(tmp_path):
    made = an_import(tmp_path, account=None, region=None).measurements[0].provenance
    assert made.cited.startswith("your measurement of 12 November 2026 ")
    assert made.reference.endswith(str(tmp_path / "mine.yaml"))


def test_a_failed_import_is_told_by_its_name_and_recorded_with_its_file(tmp_path):
    made = an_import(tmp_path, **test_evidence.HERE, measured_on="2026-11-12").measurements[0].provenance
    short = fell_short()
    imported = replace(short, measurements=tuple(replace(one, provenance=made) for one in short.measurements))
    (failed,) = failed_measurements(test_evidence.PLACE, [imported], ())
    assert failed.text.endswith("carried (your measurement of 12 November 2026 on gp3 500 GiB)")
    assert failed.source == f"your measurement of 12 November 2026 on gp3 500 GiB (fio): {tmp_path / 'mine.yaml'}"


def test_the_service_cites_a_campaign_by_its_place_in_the_bucket(tmp_path):
    settings = Settings(bucket="plimsoll-111111111111", campaigns_dir=tmp_path)
    made = an_import(tmp_path, at=settings.measured_at).measurements[0].provenance
    assert made.reference.endswith(" (fio): s3://plimsoll-111111111111/measured/mine.yaml")
    assert Settings(campaigns_dir=tmp_path).measured_at is None


def test_data_keep_the_file_that_was_imported_beside_the_name(tmp_path):
    (one,) = as_data(an_import(tmp_path))["measurements"]
    assert one["source"] == "imported from run-7.json"
    assert one["reference"].startswith("your measurement of ")
