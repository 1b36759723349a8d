"""The synthesized templates and zips, on an emulator that nobody here wrote, answer as the command line does."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
from botocore.exceptions import ClientError

from plimsoll.cli.exit_codes import PARTIAL
from tests.e2e.deployment import create, deploy, synthesize
from tests.e2e.emulator import HOME, REGION, SECRET, Emulator
from tests.e2e.estate import DAYS, ELSEWHERE, ESTATE, make
from tests.e2e.lacking import LACKING, left_out
from tests.e2e.service import Deployed

RUN: Final = "weekly"
PROCESSORS: Final = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
POLICY: Final = {"lookback_days": DAYS}
COUNTED: Final = ("volumes", "actions", "monthly_usd", "failures", "prices")
"""What run.json counts and sums up."""


@pytest.fixture(scope="module")
def service(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """Two accounts of an Organization with volumes, and the service deployed in one of them."""
    python = subprocess.run([os.environ["PLIMSOLL_E2E_PYTHON"], "-V"], check=True, capture_output=True, text=True)
    created = emulator.client("organizations").create_account(Email="member@example.com", AccountName="member")
    member = str(created["CreateAccountStatus"]["AccountId"])
    synthesized = synthesize(
        tmp_path_factory.mktemp("deployment") / "cdk.out",
        architecture=PROCESSORS[platform.machine()],
        wheels_python=".".join(python.stdout.split()[1].split(".")[:2]),
        organization="true",
        external_id="as-the-roles-ask",
        regions=f"{REGION},{ELSEWHERE}",
        max_concurrency="2",
        policy=json.dumps(POLICY),
    )
    deploy(synthesized, emulator, member)
    make(ESTATE, emulator, {"home": HOME, "member": member}, datetime.now(UTC))
    return Deployed(emulator=emulator, member=member, synthesized=synthesized)


@pytest.fixture(scope="module")
def audited(service: Deployed) -> Mapping[str, Any]:
    """What the state machine says at its end."""
    return service.audit(RUN)


@pytest.fixture(scope="module")
def by_command_line(service: Deployed, audited: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `plimsoll audit` of the same accounts and regions by the same policy at the same time."""
    folder = tmp_path_factory.mktemp("command-line")
    credentials = {"home": HOME, "member": service.member}
    (folder / "credentials").write_text(
        "".join(
            f"[{name}]\naws_access_key_id = {account}\naws_secret_access_key = {SECRET}\n"
            for name, account in credentials.items()
        )
    )
    begun = json.loads(service.read(f"reports/{RUN}/run.json"))
    scope = {"profiles": [*credentials], "regions": [REGION, ELSEWHERE]}
    run = folder / "run"
    run.mkdir()
    # A run that was begun then and has answered nothing yet: the command line takes its time from it.
    (run / "run.json").write_text(json.dumps({"now": begun["now"], "policy": begun["policy"], "scope": scope}))
    for words, code in ((["audit", "--resume", str(run)], PARTIAL), (["report", str(run), "--format", "parquet"], 0)):
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", *words],
            cwd=folder,
            env={
                **{key: value for key, value in service.emulator.environment().items() if "KEY" not in key},
                "AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
    return run


@pytest.mark.parametrize("kind", LACKING)
def test_only_what_the_emulator_refuses_is_left_out(service: Deployed, kind: str) -> None:
    names = [left_out(service.synthesized.template(stack))[kind] for stack in service.synthesized.stacks()]
    assert any(names)
    alone = {"Resources": {"Alone": LACKING[kind].example}}
    with pytest.raises((ClientError, AssertionError), match=re.escape(LACKING[kind].refusal)):
        create("alone", alone, service.emulator, HOME, {})


def test_the_audit_misses_nothing_but_the_price_list(service: Deployed, audited: Mapping[str, Any]) -> None:
    run = json.loads(service.read(f"reports/{RUN}/run.json"))
    unpriced = {f"prices of {account}/{region}" for account in (HOME, service.member) for region in (REGION, ELSEWHERE)}
    assert (run["failures"]["targets"].keys(), run["failures"]["volumes"]) == (unpriced, {}), run["failures"]
    # The emulator has no price list, so the run says that it is partial.
    assert (audited["status"], audited["run_id"]) == ("partial", RUN)
    assert audited["volumes"] >= len(ESTATE)
    assert audited["saved_usd_month"] > 0


@pytest.mark.parametrize("table", ["recommendations", "demand"])
def test_its_parquet_holds_what_the_command_line_finds(
    service: Deployed, by_command_line: Path, table: str, tmp_path: Path
) -> None:
    deployed = [str(path) for path in service.bring(f"runs/{table}/", tmp_path)]
    local = str(by_command_line / f"{table}.parquet")
    rows = duckdb.sql(
        "select columns(* exclude (run_id))::varchar from read_parquet($files, hive_partitioning = false)",
        params={"files": deployed},
    )
    expected = duckdb.sql("select columns(*)::varchar from read_parquet($file)", params={"file": local})
    assert rows.columns == expected.columns
    found = sorted(map(repr, rows.fetchall()))
    assert found
    assert found == sorted(map(repr, expected.fetchall()))


def test_its_report_holds_what_the_command_line_finds(service: Deployed, by_command_line: Path) -> None:
    found = json.loads(service.read(f"reports/{RUN}/recommendations.json"))
    expected = json.loads((by_command_line / "recommendations.json").read_text())
    assert {one["volume_id"]: one for one in found} == {one["volume_id"]: one for one in expected}
    run = json.loads(service.read(f"reports/{RUN}/run.json"))
    local = json.loads((by_command_line / "run.json").read_text())
    assert {key: run[key] for key in COUNTED} == {key: local[key] for key in COUNTED}


def test_its_page_brings_what_draws_it(service: Deployed, audited: Mapping[str, Any]) -> None:
    page = service.read(f"reports/{RUN}/report.html").decode()
    assert page.rstrip().endswith("</html>")
    assert "vegaEmbed" in page


def test_a_rerun_repeats_no_finished_batch(service: Deployed, audited: Mapping[str, Any]) -> None:
    kept = [f"work/{RUN}/results/", f"work/{RUN}/inventory/", "runs/"]
    before = [service.objects(prefix) for prefix in kept]
    assert all(before)
    again = service.audit("weekly-again", run_id=RUN)
    assert again == audited
    assert [service.objects(prefix) for prefix in kept] == before
