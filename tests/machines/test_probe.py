"""The synthesized probe, executed on simulated hosts: what was seen is kept, and Slack's worker and people find it."""

import json

import pytest

from plimsoll.clouds.aws.names import PROBE_DOCUMENT_NAME
from plimsoll.clouds.probe_book import ProbeLine
from plimsoll_measure.bench.document import document, version_name
from plimsoll_service.config import ServiceConfig
from tests.infra.synthesis import once_a_run

from .conftest import read
from .deployment import deployed
from .fleets import a_small_organization

pytestmark = [pytest.mark.release, pytest.mark.once, pytest.mark.needs("fio", "loop")]

MACHINE = "plimsoll-main-probe"
LOST = "vol-0ffffffffffffffff"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    templates = read(once_a_run(tmp_path_factory, "probe", {"ASSETS": "empty", "WITH_PROBE": "true"}))
    fleet = a_small_organization()
    config = ServiceConfig(accounts=fleet.accounts[:1], regions=fleet.regions)
    with deployed(templates, fleet, tmp_path_factory.mktemp("service"), config=config) as found:
        yield found


def make_document(service):
    """The document, as its template makes it."""
    service.account.client("ssm").create_document(
        Name=PROBE_DOCUMENT_NAME,
        Content=json.dumps(document(PROBE_DOCUMENT_NAME)),
        VersionName=version_name(PROBE_DOCUMENT_NAME),
        DocumentType="Command",
        DocumentFormat="JSON",
    )


def test_a_probe_ends_with_what_was_seen_and_why_the_rest_was_not(service):
    make_document(service)
    volume = service.account.organization.fleet.volumes[0]
    name = f"{volume.account}/{volume.region}/{volume.id}"
    ended = service.account.run(MACHINE, "p", {"volume_ids": [name, LOST], "seconds": 3})

    assert ended.status == "SUCCEEDED"
    assert (ended.output["reading"], ended.output["seen"]) == (0, [name])
    assert ended.output["not_seen"][0].startswith(f"{LOST}: there is no volume {LOST}")
    line = ProbeLine.model_validate_json(service.content(f"probes/seen/{name}.json"))
    assert line.seen.seconds + line.seen.missed_s >= 3
    assert service.keys("probes/under-way/") == []


def test_a_probe_that_cannot_be_begun_says_what_is_wrong_with_its_input(service):
    ended = service.account.run(MACHINE, "wrong", {"volume_ids": [], "seconds": 3})
    assert ended.status == "FAILED"
    assert "volume_ids" in ended.cause
