"""The permissions that are declared for the service's own parts are exactly those that its adapters use."""

import ast
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig, idempotent_function
from botocore.exceptions import EndpointConnectionError

from cloud_simulator.aws.organizations_api import WORKLOADS
from plimsoll.clouds.aws import permissions
from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.service import BusEvents, DynamoClaims, StepExecutions
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.stores import DynamoHistory, S3Store
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import Unreachable
from plimsoll.settings import Settings
from tests.contract.service_ports import home_account
from tests.contract.test_service_ports import HOME, a_decision, an_entry

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
ALLOWED_AS = {
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:UploadPart": "s3:PutObject",
    "s3:CompleteMultipartUpload": "s3:PutObject",
}
"""The action that allows a call, where it has another name (Amazon S3 User Guide, required permissions)."""
LONG = b"x" * 17_000_000
"""More than two parts of an upload."""


@pytest.fixture(scope="module")
def account():
    with home_account() as found:
        yield found


@pytest.fixture
def used():
    """The IAM actions of every call of the clients that are listened to."""
    return set()


def listened(client, used):
    def note(model, **_others):
        action = f"{client.meta.service_model.signing_name}:{model.name}"
        used.add(ALLOWED_AS.get(action, action))

    client.meta.events.register("before-call", note, unique_id="listened")
    return client


def test_the_store_uses_exactly_what_it_declares_even_when_an_upload_breaks(account, used, tmp_path):
    client = listened(account.client("s3"), used)
    store = S3Store(bucket=account.bucket(), client=client)
    (tmp_path / "in").write_bytes(LONG)
    store.put("key", b"x")
    store.get("key")
    store.put_file("file", tmp_path / "in")
    store.get_file("file", tmp_path / "out")
    store.get_file("nothing", tmp_path / "out")
    assert list(store.keys("")) == ["file", "key"]
    store.delete("key")

    def broken(**_others):
        raise EndpointConnectionError(endpoint_url="s3")

    client.meta.events.register("before-call.s3.UploadPart", broken)
    with pytest.raises(Unreachable, match=r"cannot write s3://store-\w+/file: no connection for s3:PutObject"):
        store.put_file("file", tmp_path / "in")
    assert store.get("file") == LONG, "what was there stays"
    assert used == permissions.STORE_READING | permissions.STORE_LISTING | permissions.STORE_WRITING


def test_claims_use_exactly_what_they_declare_on_items_of_their_own(account, used):
    client = listened(account.client("dynamodb"), used)
    claims = DynamoClaims(table=account.table("id"), client=client)
    claims.claim("audit", "one", LATER, NOW)
    claims.claim("audit", "other", LATER, NOW)
    claims.holder("audit", NOW)
    (item,) = client.scan(TableName=claims.table)["Items"]
    claims.release("audit", "one")
    assert used - {"dynamodb:Scan"} == permissions.CLAIMS
    ((pattern,),) = permissions.CLAIMS_CONDITION["ForAllValues:StringLike"].values()
    assert item["id"]["S"].startswith(pattern.removesuffix("*"))


def test_idempotency_uses_exactly_what_is_declared_and_leaves_claims_alone(account, used):
    table = account.table("id")
    claims = DynamoClaims(table=table, client=account.client("dynamodb"))
    assert claims.claim("audit", "one", LATER, NOW)
    config = IdempotencyConfig(lambda_context=SimpleNamespace(get_remaining_time_in_millis=lambda: 60_000))
    layer = DynamoDBPersistenceLayer(table_name=table, boto3_client=listened(account.client("dynamodb"), used))

    @idempotent_function(data_keyword_argument="work", persistence_store=layer, config=config, key_prefix="audit")
    def acted(work):
        if work == "fails":
            raise ValueError(work)
        seen.append(work)
        return {"done": work}

    seen: list[str] = []
    assert [acted(work="once"), acted(work="once")] == [{"done": "once"}] * 2
    with pytest.raises(ValueError, match="fails"):
        acted(work="fails")
    assert layer.get_record("once").status == "COMPLETED"
    assert seen == ["once"]
    assert used == permissions.IDEMPOTENCY
    assert claims.holder("audit", NOW) == "one"


def test_the_history_uses_exactly_what_it_declares(account, used):
    table = account.table("place", "volume_id")
    history = DynamoHistory(table=table, client=listened(account.client("dynamodb"), used))
    history.write([an_entry()])
    history.entries(HOME, ["vol-1"])
    assert used == permissions.HISTORY


def test_deciding_uses_exactly_what_it_declares(account, used):
    table = account.table("place", "volume_id")
    history = DynamoHistory(table=table, client=listened(account.client("dynamodb"), used))
    assert [history.decide(a_decision()), history.decide(a_decision())] == [True, False]
    assert history.decisions(HOME, ["vol-1"])
    assert used == permissions.DECISIONS


def test_beginning_uses_exactly_what_it_declares(account, used):
    machine, client = account.machine(), listened(account.client("stepfunctions"), used)
    port = StepExecutions(client=client, machines={"audit": machine})
    assert [port.begin("audit", "one", {}), port.begin("audit", "one", {})] == [True, False]
    assert used == permissions.BEGINNING | permissions.BEGUN


def test_events_use_exactly_what_they_declare_and_say_whose_they_are(account, used):
    bus, queue = account.bus()
    BusEvents(bus=bus, client=listened(account.client("events"), used)).send([("AuditCompleted", {})])
    assert used == permissions.EVENTS
    assert account.heard(queue), "the rule of the queue asks for the source"
    assert permissions.EVENTS_CONDITION == {"StringEquals": {"events:source": "plimsoll"}}


def test_looking_for_an_audit_under_way_uses_exactly_what_it_declares(account, used):
    execution = account.start(account.machine(), "one")
    StepExecutions(client=listened(account.client("stepfunctions"), used)).older(execution, datetime.now(UTC))
    assert used == permissions.EXECUTIONS


def test_finding_the_accounts_of_an_organization_uses_exactly_what_it_declares(account, used, monkeypatch):
    made = Sessions.client
    monkeypatch.setattr(Sessions, "client", lambda *given: listened(made(*given), used))
    for name, value in account.organization.environment.items():
        monkeypatch.setenv(name, value)
    for scope in (Scope(organization=True), Scope(units=(WORKLOADS,)), Scope(accounts=("222222222222",))):
        sessions = sign_in(scope, Settings())
        assert "222222222222" in sessions.by_account
        assert not sessions.failed
    assert used == permissions.ORGANIZATION


def test_a_member_role_is_assumed_with_its_external_id_alone():
    assert permissions.trust_condition(None) == {}
    assert permissions.trust_condition("of-ours") == {"StringEquals": {"sts:ExternalId": "of-ours"}}


def test_every_declared_action_is_one_that_its_service_has():
    wanted = {
        action
        for declared in vars(permissions).values()
        if isinstance(declared, frozenset)
        for action in declared
        if action.split(":")[0] in {"dynamodb", "states", "organizations", "ssm", "sts", "events", "kms"}
    }
    models = {"states": "stepfunctions"}
    operations = {
        f"{service}:{name}"
        for service in {action.split(":")[0] for action in wanted}
        for name in boto3.Session()._session.get_service_model(models.get(service, service)).operation_names
    }
    assert len(wanted) > 20
    assert wanted <= operations


def test_what_infrastructure_reads_brings_no_sdk():
    code = "import sys; from plimsoll.clouds.aws import permissions; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert not {"boto3", "botocore"} & set(ast.literal_eval(done.stdout))
    assert Path(permissions.__file__).name == "permissions.py"
