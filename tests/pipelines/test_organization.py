"""An audit of an Organization: the accounts are found, and answered as when each role is named."""

import json
from datetime import UTC, datetime

import pytest

from cloud_simulator.aws.organizations_api import SANDBOX, SUSPENDED
from cloud_simulator.running import running
from plimsoll.clouds.scope import Scope

from .commands import REGIONS, TWO_DAYS, plimsoll, roles

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def audited(organization, folder, out, *words):
    done = plimsoll(organization, folder, "audit", "--out", out, *TWO_DAYS, *REGIONS, *words)
    return done, read(folder / out, "run.json"), read(folder / out, "recommendations.json")


def answered(recommendations):
    return {(found["account"], found["volume_id"]) for found in recommendations}


@pytest.mark.release
def test_the_whole_organization_is_answered_as_when_each_role_is_named_and_can_be_resumed(organization, tmp_path):
    _, _, by_role = audited(organization, tmp_path, "by-role", *roles(organization))
    done, run, found = audited(organization, tmp_path, "whole", "--organization")
    assert done.returncode == 3, "one volume is of an unknown type"
    assert run["failures"]["targets"] == {}
    assert answered(found) == answered(by_role)
    (tmp_path / "whole" / "run.json").write_text(json.dumps({**run, "status": "partial"}), encoding="utf-8")
    again = plimsoll(organization, tmp_path, "audit", "--resume", "whole")
    assert again.returncode == 3
    assert answered(read(tmp_path / "whole", "recommendations.json")) == answered(by_role)


def test_a_unit_is_its_accounts_alone_without_the_callers_own(organization, tmp_path):
    _, run, found = audited(organization, tmp_path, "unit", "--unit", SANDBOX, "--role-name", "another-role")
    assert {one["account"] for one in found} == {"333333333333"}
    assert run["scope"]["units"] == [SANDBOX]
    assert run["scope"]["role_name"] == "another-role"


@pytest.mark.release
def test_of_a_list_what_is_not_in_the_organization_is_named_and_the_rest_is_audited(organization, tmp_path):
    words = ("--account", "222222222222", "--account", SUSPENDED, "--account", "123456789012")
    done, run, found = audited(organization, tmp_path, "listed", *words)
    assert done.returncode == 3
    assert {one["account"] for one in found} == {"222222222222"}
    assert set(run["failures"]["targets"]) == {SUSPENDED, "123456789012"}
    assert "123456789012: it is not in this Organization" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--organization", "--account", "222222222222"), "give one of --organization, --unit and --account"),
        (("--account", "prod"), "--account prod: an account is 12 digits"),
        (("--role-name", "audit"), "--role-name goes with --organization, --unit or --account"),
        (("--organization", "--profile", "a", "--profile", "b"), "one --profile assumes the roles of all accounts"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(organization, tmp_path, words, sentence):
    done = plimsoll(organization, tmp_path, "audit", *words)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_scope_comes_back_from_a_run_as_it_was_given():
    scope = Scope(units=(SANDBOX,), role_name="reader", external_id="x", regions=("eu-west-1",))
    written = json.dumps(scope.as_dict())
    assert '"x"' not in written
    assert Scope.from_dict(json.loads(written), external_id="x") == scope
    assert Scope.from_dict({}) == Scope()
