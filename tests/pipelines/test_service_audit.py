"""The audit in parts answers as `plimsoll audit` does, whatever is parted, stopped, denied, throttled or crashed."""

from datetime import UTC, datetime

import pytest

from plimsoll.domain.policy import Policy

from .in_process import audited
from .service_loop import Loop, a_service, an_organisation, files, records, run_json, served

NOW = datetime.now(UTC)
POLICY = Policy(lookback_days=2)


@pytest.fixture(scope="module")
def fleet():
    return an_organisation(NOW)


@pytest.fixture(scope="module")
def whole(fleet, tmp_path_factory):
    """What the command line answers."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with served(fleet) as (there, _front):
        audited(there, folder, NOW, POLICY)
    return folder


def test_the_parts_answer_as_the_whole_does(fleet, whole, tmp_path):
    with served(fleet) as (there, _front):
        loop = Loop(service=a_service(there, tmp_path, NOW), now=NOW)
        reported = loop.run()
    folder = files(loop.service, "first")
    assert records(folder) == records(whole)
    print(reported)
    print(run_json(folder)["seconds"], run_json(folder)["usage"], run_json(folder)["plan"])
    print(run_json(whole)["seconds"], run_json(whole)["usage"], run_json(whole)["plan"])
    assert 0
