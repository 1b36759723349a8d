"""Claims in a folder end with the process that made them, and of claimants at once one is first."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.clouds.local_store import FileClaims
from plimsoll.model.errors import BadInput

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
KEY = "111111111111/us-east-1/gp3/104/62"
CLAIM = f"""
import sys
from datetime import UTC, datetime
from pathlib import Path
from plimsoll.clouds.local_store import FileClaims
from plimsoll.model.errors import BadInput
claims = FileClaims(folder=Path(sys.argv[1]))
print(claims.claim({KEY!r}, "killed", datetime(2036, 1, 1, tzinfo=UTC), datetime.now(UTC)))
"""


@pytest.fixture
def claims(tmp_path):
    return FileClaims(folder=tmp_path / "claims")


def test_a_claim_ends_with_the_process_that_was_killed(claims):
    done = subprocess.run(
        [sys.executable, "-c", CLAIM, str(claims.folder)], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "True"
    assert claims.holder(KEY, NOW) is None
    assert claims.claim(KEY, "next", LATER, NOW)


def test_a_claim_of_another_machine_stands_until_its_time(claims):
    assert claims.claim(KEY, "here", LATER, NOW)
    (path,) = claims.folder.glob("*.json")
    note = {"machine": "elsewhere", "pid": os.getpid(), "holder": "there", "until": LATER.isoformat()}
    path.write_text(json.dumps(note), encoding="utf-8")
    assert claims.holder(KEY, NOW) == "there"
    assert not claims.claim(KEY, "here", LATER, NOW)
    assert claims.holder(KEY, LATER) is None


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"until": "soon"}', '{"until": 3}', "\x00"])
def test_a_claim_that_cannot_be_read_is_nobodys(claims, damage):
    assert claims.claim(KEY, "here", LATER, NOW)
    (path,) = claims.folder.glob("*.json")
    path.write_text(damage, encoding="utf-8")
    assert claims.holder(KEY, NOW) is None
    claims.release(KEY, "here")
    assert claims.claim(KEY, "next", LATER, NOW)


def test_of_many_that_find_an_expired_claim_one_gets_it(claims):
    def claimed(times):
        round_, number = divmod(times, 8)
        now = NOW + timedelta(hours=round_)
        return claims.claim(KEY, f"holder {number}", now + timedelta(hours=1), now)

    for round_ in range(20):
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(claimed, range(8 * round_, 8 * round_ + 8)))
        assert got.count(True) == 1


def test_a_claim_that_cannot_be_read_is_not_nobodys(claims):
    assert claims.claim(KEY, "first", LATER, NOW)
    (file,) = claims.folder.glob("*.json")
    file.unlink()
    file.mkdir()
    with pytest.raises(BadInput, match="it cannot be seen who works there"):
        claims.claim(KEY, "next", LATER, NOW)
    with pytest.raises(BadInput, match="it cannot be seen who works there"):
        claims.holder(KEY, NOW)
