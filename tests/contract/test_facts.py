"""Every store of facts: what is there under a key stays, and of two writers one is told so."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from plimsoll.clouds.aws.stores import S3Facts
from plimsoll.clouds.local_store import FolderStore
from tests.contract.service_ports import home_account


@pytest.fixture(params=["folder", "s3"])
def facts(request, tmp_path):
    if request.param == "folder":
        yield FolderStore(tmp_path)
        return
    with home_account() as account:
        yield S3Facts(bucket=account.bucket(), client=account.client("s3"))


def test_a_fact_is_written_once_and_stays(facts):
    assert facts.put_new("plan/ledger/plan/000001.json", b"first")
    assert not facts.put_new("plan/ledger/plan/000001.json", b"second")
    assert facts.get("plan/ledger/plan/000001.json") == b"first"
    assert list(facts.keys("plan/ledger/")) == ["plan/ledger/plan/000001.json"]


def test_of_many_writers_at_once_one_is_first(facts):
    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(lambda number: facts.put_new("key", b"%d" % number), range(16)))
    assert written.count(True) == 1
    assert facts.get("key") == b"%d" % written.index(True)
