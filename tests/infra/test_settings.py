"""Settings: from variables and CDK's context to one checked deployment, and a sentence for what cannot be used."""

import json
import os
from datetime import UTC, datetime

import pytest

from infra.constructs.log import KEPT
from infra.schedule_syntax import past_error, schedule_error
from infra.settings import PREFIX, RETENTIONS_DAYS, Deployment
from plimsoll.clouds.aws.sessions import known_regions
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Policy
from plimsoll.settings import Settings, format_tags
from plimsoll_service.config import ServiceConfig
from plimsoll_service.slack_config import Route, SlackConfig
from tests.federation import FakeGoogle

KEYLESS = FakeGoogle(url="https://sts.googleapis.com").config()
MEMBERS = {"external_id": "the-external-id"}


@pytest.fixture(autouse=True)
def _no_settings_of_the_caller(monkeypatch):
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)


def refused(**context):
    with pytest.raises(BadInput) as caught:
        Deployment.read(context)
    return str(caught.value)


def test_without_any_setting_the_account_deployed_in_is_audited_each_monday():
    deployment = Deployment.read({})
    assert deployment.config.to_text() == "{}"
    assert deployment.schedule == "cron(0 6 ? * MON *)"


def test_the_context_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}REGIONS", "us-east-1")
    monkeypatch.setenv(f"{PREFIX}VALIDATION__MAX_RUNS", "7")
    deployment = Deployment.read({"regions": "eu-west-1, eu-central-1"})
    assert deployment.regions == ("eu-west-1", "eu-central-1")
    assert deployment.validation.max_runs == 7


def test_lists_are_words_with_commas_or_json_and_accounts_keep_their_first_zero():
    by_words = Deployment.read({"accounts": "011122223333,444455556666", **MEMBERS})
    by_json = Deployment.read({"accounts": '["011122223333", "444455556666"]', **MEMBERS})
    assert by_words.accounts == by_json.accounts == ("011122223333", "444455556666")


def test_keys_within_a_setting_are_named_with_a_dot_in_the_context():
    deployment = Deployment.read({"validation.max_usd": "2.5", "validation.bench_hosts": "i-1,i-2"})
    assert (deployment.validation.max_usd, deployment.validation.bench_hosts) == (2.5, ("i-1", "i-2"))


def test_what_slack_is_told_is_given_by_words_and_its_routes_as_json(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}SLACK__TEAMS", "T0123ABCDEF, T0999ABCDEF")
    monkeypatch.setenv(f"{PREFIX}SLACK__CHANNEL", "C0123ABCDEF")
    monkeypatch.setenv(f"{PREFIX}SLACK__ROUTES", '[{"channel": "C0456ABCDEF", "tags": {"team": "payments"}}]')
    deployment = Deployment.read({"slack.user_groups": "S0123ABCDEF"})
    expected = SlackConfig(
        teams=("T0123ABCDEF", "T0999ABCDEF"),
        channel="C0123ABCDEF",
        routes=(Route(channel="C0456ABCDEF", tags={"team": "payments"}),),
        user_groups=("S0123ABCDEF",),
    )
    assert deployment.slack == expected
    assert ServiceConfig.parse(json.loads(deployment.config.to_text())).slack == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"channel": "storage"}, "slack.channel is 'storage': write the id of a channel, such as C0123ABCDEF, not its"),
        ({"channel": "#storage"}, "slack.channel is '#storage': write the id of a channel"),
        ({"teams": ""}, "slack.teams is []: write the id of a workspace, such as T0123ABCDEF"),
        ({"teams": "ours"}, "slack.teams.0 is 'ours': write the id of a workspace"),
        ({"user_groups": "@storage"}, "slack.user_groups.0 is '@storage': write the id of a user group, such as S0123"),
        ({"routes": "C0456ABCDEF,C0789ABCDEF"}, "slack.routes is 'C0456ABCDEF,C0789ABCDEF', which is not JSON"),
        ({"routes": '{"channel": "C0456ABCDEF"}'}, 'write JSON such as [{"channel": "C0123ABCDEF", "accounts": ['),
        ({"routes": '[{"channel": "ops"}]'}, "slack.routes.0.channel is 'ops': write the id of a channel"),
        ({"routes": '[{"channel": "C0456ABCDEF", "accounts": ["1"]}]'}, "is '1': write its twelve digits, such as 111"),
        ({"routes": '[{"channel": "C0456ABCDEF", "owner": "a"}]'}, "there is no setting slack.routes.0.owner"),
        ({"routes": '[{"channel": "C0456ABCDEF"}]'}, "the route to C0456ABCDEF selects no volumes: give it accounts"),
        ({"chanel": "C0123ABCDEF"}, "there is no setting slack.chanel"),
    ],
)
def test_what_slack_cannot_be_told_is_refused_with_what_to_write_instead(given, said):
    slack = {"teams": "T0123ABCDEF", "channel": "C0123ABCDEF", **given}
    assert said in refused(**{f"slack.{name}": value for name, value in slack.items()})


def test_a_workspace_without_a_channel_says_that_the_channel_is_missing(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}SLACK__TEAMS", "T0123ABCDEF")
    assert refused().startswith("slack.channel is missing: write the id of a channel, such as C0123ABCDEF")


def test_a_list_with_a_wrong_item_is_told_by_that_item_alone():
    assert refused(**{"slack.teams": "ours", "slack.channel": "C0123ABCDEF"}).count("\n") == 0


def test_what_cdk_keeps_in_its_context_for_itself_is_no_setting():
    assert Deployment.read({"@aws-cdk/core:target-partitions": ["aws"], "aws:cdk:enable-path-metadata": True})


def test_the_policy_file_is_written_where_the_functions_read_it(tmp_path):
    (tmp_path / "policy.yaml").write_text("headroom_pct: 35\nexclude: [{tag: team, value: billing}]\n")
    deployment = Deployment.read({"policy_file": str(tmp_path / "policy.yaml")})
    assert json.loads(deployment.config.to_text()) == {
        "policy": {"headroom_pct": 35, "exclude": [{"tag": "team", "value": "billing"}]}
    }
    assert deployment.parsed_policy.headroom_pct == 35
    assert deployment.parsed_policy.lookback_days == Policy().lookback_days


def test_tags_are_words_with_commas_and_fit_the_functions_own_setting(monkeypatch):
    deployment = Deployment.read({"tags": "team=storage, cost-center = 42"})
    assert deployment.tags == {"team": "storage", "cost-center": "42"}
    monkeypatch.setenv("PLIMSOLL_TAGS", format_tags(deployment.tags))
    assert Settings.from_environment().tags == deployment.tags


def test_concurrency_is_set_apart_by_name_and_for_all_others():
    none, some = Deployment.read({}), Deployment.read({"reserved_concurrency": '{"audit_batch": 20, "*": 12}'})
    assert [none.reserved_for(name, None) for name in ("audit_batch", "plan")] == [None, None]
    assert [some.reserved_for(name, None) for name in ("audit_batch", "plan")] == [20, 12]
    assert (none.reserved_for("slack_act", 10), some.reserved_for("slack_act", 10)) == (10, 10)


@pytest.mark.parametrize(
    "schedule",
    [
        "rate(7 days)",
        "rate(1 hour)",
        "cron(0 6 ? * MON *)",
        "cron(15 10 ? * 6L 2026-2030)",
        "cron(0/15 8-17 ? * MON-FRI *)",
        "cron(0 8 1 * ? *)",
        "cron(0 8 L JAN,JUL ? *)",
        "at(2027-01-31T06:00:00)",
    ],
)
def test_what_is_a_schedule_is_taken(schedule):
    assert schedule_error(schedule) is None


@pytest.mark.parametrize(
    ("schedule", "instead"),
    [
        ("0 6 * * 1", "six stand in cron(...)"),
        ("weekly", "write rate(7 days), cron(0 6 ? * MON *)"),
        ("rate(1 days)", "write rate(1 day)"),
        ("rate(7 day)", "write rate(7 days)"),
        ("rate(0 days)", "such as rate(7 days)"),
        ("rate(2 weeks)", "with minutes, hours or days"),
        ("cron(0 6 * * MON)", "cron() has 6 fields"),
        ("cron(0 6 * * MON *)", "one of day of month and day of week must be ?"),
        ("cron(0 25 ? * MON *)", "25 is no hours, which are from 0 to 23"),
        ("cron(0 6 ? * MOON *)", "MOON is no day of week"),
        ("at(2027-01-31 06:00)", "write at(YYYY-MM-DDTHH:MM:SS)"),
        ("at(2027-02-31T06:00:00)", "write at(YYYY-MM-DDTHH:MM:SS)"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_to_write_instead(schedule, instead):
    said = refused(schedule=schedule)
    assert repr(schedule) in said
    assert instead in said


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"regions": "eu-west-11"}, "there is no AWS region eu-west-11: did you mean eu-west-1"),
        ({"time_zone": "Mars"}, "time_zone 'Mars' is none: write one of the IANA database"),
        ({"organization": "true", "accounts": "111122223333", **MEMBERS}, "give one of organization and accounts"),
        ({"organization": "true"}, "external_id is missing"),
        ({"accounts": "12", **MEMBERS}, "accounts.0 is '12': write its twelve digits, such as 111122223333."),
        ({"organizational_units": "ou-1", **MEMBERS}, "'ou-1': write an id such as ou-abcd-12345678"),
        ({"kms_key_arn": "alias/ours"}, "kms_key_arn is 'alias/ours': write the ARN of a key, not of an alias"),
        ({"role_path": "platform"}, "role_path is 'platform': write a path such as /storage/"),
        ({"tags": "team"}, "the tag 'team' cannot be used: write KEY=VALUE"),
        ({"tags": "plimsoll:scratch=x"}, "the tag 'plimsoll:scratch=x' cannot be used"),
        ({"tags": ",".join(f"k{number}={'v' * 250}" for number in range(9))}, "have room for 2,048 of them."),
        ({"reserved_concurrency": '{"audit_batches": 5}'}, "there is no function audit_batches: write audit_batch."),
        ({"reserved_concurrency": '{"*": 0}'}, "reserved_concurrency.* is 0"),
        ({"reserved_concurrency": '{"*": 9}'}, "has 9 for take_inventory, of which max_concurrency calls 10 at once"),
        (
            {"code_signing_config_arn": "csc-1"},
            "code_signing_config_arn is 'csc-1': write an ARN such as arn:aws:lambda",
        ),
        ({"signed_code": "s3://code"}, "signed_code is 's3://code': write BUCKET/PREFIX, such as"),
        ({"network.subnet_ids": "a", "network.security_group_ids": "sg-01234567"}, "is 'a': write the id of a subnet"),
        (
            {"network.subnet_ids": "subnet-01234567"},
            "network.security_group_ids is missing: write the id of a security",
        ),
        (
            {
                "network.subnet_ids": "subnet-01234567",
                "network.security_group_ids": "sg-01234567",
                "network.vpc_id": "vpc-01234567",
            },
            "give network.vpc_id and network.route_table_ids together, for endpoints, or neither.",
        ),
        ({"stage": "Main"}, "stage is 'Main': write at most twenty small letters"),
        ({"policy_file": ""}, "policy_file is empty: write the path of a policy file, or leave it out."),
        ({"validation.max_usdd": "2"}, "there is no setting validation.max_usdd"),
        ({"shedule": "rate(7 days)"}, "there is no setting shedule: did you mean schedule?"),
        ({"logs_days": "31"}, "CloudWatch cannot keep logs for 31 days: write 60."),
        ({"with_validation": "maybe"}, "with_validation is 'maybe'"),
        ({"policy": '{"headroom_pct": 900}'}, "policy key headroom_pct is 900.0; it must be from 0 to 400."),
        ({"policy": "{headroom}"}, "policy is '{headroom}', which is not JSON"),
        ({"policy_file": "/nowhere.yaml"}, "the policy /nowhere.yaml cannot be read: No such file or directory."),
        ({"validation.max_runs": "0"}, "validation.max_runs is '0'"),
        ({"alarm_email": "a@b.ch", "alarm_topic_arn": "arn:aws:sns:eu-west-1:111122223333:t"}, "not both"),
        ({"alarm_volumes": "vol-0123456789abcdef0"}, "alarm_volumes.0 is 'vol-0123456789abcdef0': write ID:IOPS:MIB_S"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_a_sentence(context, said):
    assert said in refused(**context)


def test_projects_are_words_with_commas_and_their_credentials_json(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}GOOGLE_CREDENTIALS", json.dumps(KEYLESS))
    deployment = Deployment.read({"google_projects": "storage-prod, storage-test", "google_regions": "us-central1"})
    assert deployment.config.google_projects == ("storage-prod", "storage-test")
    assert deployment.config.google_credentials is not None
    assert deployment.config.google_credentials.plain == KEYLESS


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            {"google_projects": "storage-prod"},
            "google_credentials is missing: Google has to know the functions",
        ),
        ({"google_projects": "Storage"}, "google_projects.0 is 'Storage': write its id, such as storage-prod"),
        ({"google_folders": "prod"}, "google_folders.0 is 'prod': write its number"),
        ({"google_organizations": "ours"}, "google_organizations.0 is 'ours': write its number"),
        (
            {"google_regions": "us-central1-a"},
            "google_regions.0 is 'us-central1-a': write a region such as",
        ),
        ({"google_credentials": "google.json"}, "google_credentials is 'google.json', which is not JSON"),
        ({"google_credentials": json.dumps({"type": "gdch_service_account"})}, "which `gcloud iam workload-identity"),
        (
            {"google_credentials": json.dumps({key: KEYLESS[key] for key in KEYLESS if key != "audience"})},
            "google_credentials.audience is missing: write what docs/deploy.md says of it.",
        ),
    ],
)
def test_what_cannot_be_used_of_google_is_refused_with_what_to_write_instead(context, said):
    assert said in refused(**context)


def test_a_key_of_google_s_is_refused_and_shown_to_nobody():
    key = {"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----", "client_email": "a@b.c"}
    said = refused(google_credentials=json.dumps(key))
    assert said.startswith("google_credentials holds a private_key: a key is never kept here.")
    assert "BEGIN" not in said


def test_a_misspelt_variable_is_refused(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}REGION", "eu-west-1")
    assert refused() == "there is no setting region: did you mean regions?"


def test_everything_that_is_wrong_is_said_at_once():
    assert refused(time_zone="Mars", stage="Main").count("\n") == 1


def test_a_policy_too_long_for_its_parameter_is_refused(tmp_path):
    overrides = [{"tag": f"team-{number:04d}", "policy": {"headroom_pct": 30}} for number in range(200)]
    (tmp_path / "policy.yaml").write_text(json.dumps({"overrides": overrides}))
    said = refused(policy_file=str(tmp_path / "policy.yaml"))
    assert "a parameter holds 8,192: shorten the policy" in said


def test_a_schedule_for_once_that_has_passed_is_refused():
    said = refused(schedule="at(2026-01-31T06:00:00)", time_zone="Europe/Berlin")
    assert said.startswith("schedule 'at(2026-01-31T06:00:00)' has passed in Europe/Berlin: write a time to come, or ")


def test_whether_a_time_has_passed_is_asked_in_its_time_zone():
    now = datetime(2026, 11, 22, 5, 30, tzinfo=UTC)
    assert past_error("at(2026-11-22T06:00:00)", "UTC", now) is None
    assert past_error("at(2026-11-22T06:00:00)", "Europe/Berlin", now) is not None


def test_logs_are_kept_as_many_days_as_cloudwatch_can_keep_them():
    assert tuple(KEPT) == RETENTIONS_DAYS
    assert refused(logs_days="2000").endswith("write 2192.")


def test_every_setting_says_what_it_is_for():
    assert [name for name, field in Deployment.model_fields.items() if not field.description] == []


def test_the_regions_that_are_known_are_those_of_the_audit():
    for region in known_regions():
        assert Deployment.read({"regions": region}).regions == (region,)
