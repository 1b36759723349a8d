"""A deployed service is upgraded and rolled back, by CloudFormation as the emulator has it: what it keeps stays."""

import pytest

from tests.e2e.deployment import Synthesized, deploy, synthesize
from tests.e2e.emulator import HOME, REGION, Emulator

STAGE = "trial"
BUCKET = f"plimsoll-{STAGE}-{HOME}-{REGION}"
HISTORY = f"plimsoll-{STAGE}-history"
KEPT = {"place": {"S": "111122223333/eu-west-1"}, "volume_id": {"S": "vol-0123456789abcdef0"}, "since": {"S": "2026"}}
VERSIONS = {"earlier": {"audit_memory_mib": "1024", "max_concurrency": "3"}, "later": {"audit_memory_mib": "4096"}}


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Synthesized]:
    """What two versions of the service synthesize."""
    folder = tmp_path_factory.mktemp("versions")
    given = {"stage": STAGE, "assets": "empty", "external_id": "as-the-roles-ask"}
    return {name: synthesize(folder / name, **given, **settings) for name, settings in VERSIONS.items()}


def test_an_upgrade_and_the_way_back_change_functions_and_machines_and_keep_what_is_kept(
    emulator: Emulator, versions: dict[str, Synthesized]
) -> None:
    created = emulator.client("organizations").create_account(Email="upgraded@example.com", AccountName="upgraded")
    member = str(created["CreateAccountStatus"]["AccountId"])
    s3, dynamodb = emulator.client("s3"), emulator.client("dynamodb")
    for step, version in enumerate(("earlier", "later", "earlier")):
        deploy(versions[version], emulator, member)
        if not step:
            s3.put_object(Bucket=BUCKET, Key="reports/first/run.json", Body=b"{}")
            dynamodb.put_item(TableName=HISTORY, Item=KEPT)
        assert memory_mib(emulator, "audit_batch") == int(VERSIONS[version]["audit_memory_mib"])
        at_once = VERSIONS[version].get("max_concurrency", "10")
        assert f'"MaxConcurrency":{at_once}' in definition(emulator)
        assert s3.get_object(Bucket=BUCKET, Key="reports/first/run.json")["Body"].read() == b"{}"
        keys = {name: KEPT[name] for name in ("place", "volume_id")}
        assert dynamodb.get_item(TableName=HISTORY, Key=keys)["Item"] == KEPT


def memory_mib(emulator: Emulator, function: str) -> int:
    """The memory of a function as it is deployed."""
    found = emulator.client("lambda").get_function_configuration(FunctionName=f"plimsoll-{STAGE}-{function}")
    return int(found["MemorySize"])


def definition(emulator: Emulator) -> str:
    """The audit's state machine as it is deployed."""
    arn = f"arn:aws:states:{REGION}:{HOME}:stateMachine:plimsoll-{STAGE}-audit"
    found = emulator.client("stepfunctions").describe_state_machine(stateMachineArn=arn)
    return str(found["definition"]).replace(" ", "")
