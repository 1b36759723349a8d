"""The synthesized templates of a deployment with all that there is."""

from pathlib import Path

import pytest

from tests.infra.synthesis import once_a_run
from tests.infra.templates import Templates

CHANGES = {"WITH_CHANGES": "true", "CHANGE_RULES": '{"approvers": ["ada", "grace"]}'}
DEPLOYED = {
    "ASSETS": "empty",
    "WITH_PROBE": "true",
    **CHANGES,
    "ORGANIZATION": "true",
    "EXTERNAL_ID": "the-external-id",
    "ALARM_EMAIL": "storage@example.com",
    "ALARM_VOLUMES": "vol-0123456789abcdef0:3000:125",
    "SLACK__TEAMS": "T0123ABCDEF",
    "SLACK__CHANNEL": "C0123ABCDEF",
    "SLACK__USER_GROUPS": "S0123ABCDEF",
}
"""The settings of the templates that the tests read."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.once)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The templates of a deployment."""
    return Templates(once_a_run(tmp_path_factory, "deployed", DEPLOYED))


KEY = "arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
TAGS = {"team": "storage", "cost-center": "42"}
OPTIONS = {
    **DEPLOYED,
    "VALIDATION__COPIES": "true",
    "LOCKED_DOCUMENT": "true",
    "DENIED_PLACES_EXPECTED": "true",
    "TAGS": "team=storage, cost-center=42",
    "KMS_KEY_ARN": KEY,
    "PERMISSIONS_BOUNDARY": "bounds",
    "MEMBER_PERMISSIONS_BOUNDARY": "bounds-of-members",
    "ROLE_PATH": "/platform/storage/",
    "NETWORK__SUBNET_IDS": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    "NETWORK__SECURITY_GROUP_IDS": "sg-0123456789abcdef0",
    "NETWORK__VPC_ID": "vpc-0123456789abcdef0",
    "NETWORK__ROUTE_TABLE_IDS": "rtb-0123456789abcdef0",
    "RESERVED_CONCURRENCY": '{"audit_batch": 20, "*": 10}',
    "CODE_SIGNING_CONFIG_ARN": "arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-0123456789abcdef0",
    "SIGNED_CODE": "code-of-ours/signed",
    "SLACK_AT_ONCE": "7",
    "SLACK_DOOR": "rest-api",
    "SLACK_WEB_ACL_ARN": f"arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/slack/{KEY.rpartition('/')[2]}",
    "LOGS_DAYS": "400",
    "FACTS_LOCKED_DAYS": "365",
}
"""All options that companies ask for, and what measures with copies, a locked document and denied places."""


@pytest.fixture(scope="session")
def templates_with_options(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The templates of a deployment with all options."""
    return Templates(once_a_run(tmp_path_factory, "options", OPTIONS))
