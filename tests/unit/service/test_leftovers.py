"""What is left of a removed service is found by its names, and a kind that cannot be listed is told as such."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import typer
from botocore.exceptions import ClientError

from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL
from plimsoll.model.errors import AccessDenied, BadInput
from plimsoll_service.bootstrap.leftovers import LEFTOVER_KINDS, find_leftovers
from plimsoll_service.cli.leftovers import leftovers_command

STACKS, DENIED = ("cloudformation", "describe_stacks"), ("sqs", "list_queues")


@dataclass
class Account:
    """Clients of every service: what each call answers, page by page; a call in `denied` is refused."""

    answers: dict = field(default_factory=dict)
    denied: set = field(default_factory=set)
    paginated: bool = False

    def client_of(self, service):
        return Client(self, service)


@dataclass
class Client:
    account: Account
    service: str

    def can_paginate(self, _operation):
        return self.account.paginated

    def get_paginator(self, operation):
        return Paginator(self, operation)

    def __getattr__(self, operation):
        return lambda **request: self.page(operation, int(request.get("NextToken", 0)))

    def page(self, operation, number):
        call = (self.service, operation)
        if call in self.account.denied:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)
        pages = self.account.answers.get(call, [{}])
        more = {"NextToken": str(number + 1)} if number + 1 < len(pages) else {}
        return pages[number] | more


@dataclass
class Paginator:
    client: Client
    operation: str

    def paginate(self, **_request):
        return iter(self.client.account.answers.get((self.client.service, self.operation), [{}]))


def left(account, stage="main"):
    return [(one.kind.type, one.name) for one in find_leftovers(account.client_of, stage)]


def stacks(*names):
    return {"Stacks": [{"StackName": name} for name in names]}


def test_nothing_is_left_where_nothing_is_called_so():
    assert left(Account()) == []
    assert (
        left(Account(answers={STACKS: [stacks("plimsoll", "other-plimsoll-main-data", "plimsoll-trial-data")]})) == []
    )


def test_each_kind_is_found_by_the_stage_in_its_name():
    answers = {
        STACKS: [stacks("plimsoll-main-slack", "plimsoll-main-data", "plimsoll-mainland-data")],
        ("s3", "list_buckets"): [{"Buckets": [{"Name": "plimsoll-main-111122223333-eu-west-1"}, {"Name": "plimsoll"}]}],
        ("dynamodb", "list_tables"): [{"TableNames": ["plimsoll-main-history", "history"]}],
        ("iam", "list_roles"): [
            {"Roles": [{"RoleName": name} for name in ("plimsoll-main-plan", "plimsoll-audit", "plimsoll-auditor")]}
        ],
        ("logs", "describe_log_groups"): [
            {"logGroups": [{"logGroupName": "/aws/vendedlogs/states/plimsoll-main-audit"}, {"logGroupName": "/aws/x"}]}
        ],
        ("sqs", "list_queues"): [{"QueueUrls": ["https://sqs.eu-west-1.amazonaws.com/1/plimsoll-main-slack-Queue"]}],
        ("ssm", "describe_parameters"): [{"Parameters": [{"Name": "/plimsoll/main/config"}, {"Name": "/plimsoll/x"}]}],
        ("events", "list_event_buses"): [{"EventBuses": [{"Name": "default"}, {"Name": "plimsoll-main"}]}],
        ("glue", "get_databases"): [{"DatabaseList": [{"Name": "plimsoll_main"}, {"Name": "plimsoll_mainland"}]}],
        ("ssm", "list_documents"): [{"DocumentIdentifiers": [{"Name": "Plimsoll-Probe"}, {"Name": "Plimsoll-Other"}]}],
        ("ec2", "describe_volumes"): [{"Volumes": [{"VolumeId": "vol-1"}]}],
    }
    assert left(Account(answers=answers)) == [
        ("AWS::CloudFormation::Stack", "plimsoll-main-data"),
        ("AWS::CloudFormation::Stack", "plimsoll-main-slack"),
        ("AWS::S3::Bucket", "plimsoll-main-111122223333-eu-west-1"),
        ("AWS::DynamoDB::Table", "plimsoll-main-history"),
        ("AWS::Logs::LogGroup", "/aws/vendedlogs/states/plimsoll-main-audit"),
        ("AWS::IAM::Role", "plimsoll-audit"),
        ("AWS::IAM::Role", "plimsoll-main-plan"),
        ("AWS::Events::EventBus", "plimsoll-main"),
        ("AWS::SQS::Queue", "https://sqs.eu-west-1.amazonaws.com/1/plimsoll-main-slack-Queue"),
        ("AWS::SSM::Parameter", "/plimsoll/main/config"),
        ("AWS::Glue::Database", "plimsoll_main"),
        ("AWS::SSM::Document", "Plimsoll-Probe"),
        ("AWS::EC2::Volume", "vol-1"),
    ]


def test_a_stage_with_hyphens_is_found_where_names_have_none():
    databases = {"DatabaseList": [{"Name": "plimsoll_main_eu"}, {"Name": "plimsoll_main"}]}
    account = Account(answers={("glue", "get_databases"): [databases], STACKS: [stacks("plimsoll-main-eu-data")]})
    assert [name for _, name in left(account, "main-eu")] == ["plimsoll-main-eu-data", "plimsoll_main_eu"]


def test_a_list_is_read_to_its_end_whether_or_not_botocore_turns_its_pages():
    pages = [stacks("plimsoll-main-data"), stacks("plimsoll-main-audit")]
    for paginated in (False, True):
        names = {name for _, name in left(Account(answers={STACKS: pages}, paginated=paginated))}
        assert names == {"plimsoll-main-data", "plimsoll-main-audit"}


def test_a_kind_that_cannot_be_listed_is_told_and_the_others_are_listed():
    account = Account(answers={STACKS: [stacks("plimsoll-main-data")]}, denied={DENIED})
    found = list(find_leftovers(account.client_of, "main"))
    assert [(one.kind.type, type(one.error)) for one in found] == [
        ("AWS::CloudFormation::Stack", type(None)),
        ("AWS::SQS::Queue", AccessDenied),
    ]
    assert "sqs:ListQueues" in found[1].text


def test_what_removes_it_stands_beside_each():
    account = Account(answers={("s3", "list_buckets"): [{"Buckets": [{"Name": "plimsoll-main-1"}]}]})
    (bucket,) = find_leftovers(account.client_of, "main")
    assert bucket.text.startswith("AWS::S3::Bucket plimsoll-main-1: ")
    assert bucket.text.endswith("aws s3 rb s3://plimsoll-main-1")
    assert len({kind.type for kind in LEFTOVER_KINDS}) == len(LEFTOVER_KINDS)


@pytest.fixture
def run_command(monkeypatch, capsys):
    """The command over an account's clients: its exit code, and what it prints."""

    def run(account, *, stage="main", region="eu-west-1"):
        sessions = SimpleNamespace(
            sign_in=lambda _credentials: None,
            failed=[],
            by_account={"111122223333": SimpleNamespace(region_name=None)},
            client=lambda service, _account, _region: account.client_of(service),
        )
        monkeypatch.setattr("plimsoll.clouds.aws.sessions.Sessions", lambda **_named: sessions)
        try:
            leftovers_command(stage=stage, region=region)
        except typer.Exit as ended:
            return ended.exit_code, capsys.readouterr().out
        return 0, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("account", "code", "told"),
    [
        (Account(), 0, "nothing is left of plimsoll-main in 111122223333/eu-west-1"),
        (Account(answers={STACKS: [stacks("plimsoll-main-data")]}), EXIT_OVER, "plimsoll-main-data"),
        (Account(answers={STACKS: [stacks("plimsoll-main-data")]}, denied={DENIED}), PARTIAL, "sqs:ListQueues"),
        (Account(denied={DENIED}), PARTIAL, "sqs:ListQueues"),
    ],
)
def test_the_command_says_that_nothing_is_left_where_that_is_known_alone(run_command, account, code, told):
    ended, printed = run_command(account)
    assert (ended, told in printed) == (code, True)
    assert ("nothing is left" in printed) is (code == 0)


def test_a_place_that_nobody_named_and_a_stage_that_is_none_are_refused(run_command):
    with pytest.raises(BadInput, match="--region"):
        run_command(Account(), region=None)
    with pytest.raises(BadInput, match="--stage Main"):
        run_command(Account(), stage="Main")
