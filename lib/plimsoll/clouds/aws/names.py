"""Names that the service, its infrastructure and its member accounts agree on."""

from typing import Final

AUDIT_ROLE: Final = "plimsoll-audit"
CHANGE_ROLE: Final = "plimsoll-change"
CHANGE_PLAN_ROLE: Final = "plimsoll-change-plan"
PROBE_ROLE: Final = "plimsoll-probe"
VALIDATION_ROLE: Final = "plimsoll-validation"
"""The roles in each account: they read, change what is planned, tag what is planned, probe and measure."""

CHANGES_GO: Final = "go"
"""The value of the switch for changes with which they may begin; any other ends what has not begun."""

EVENT_SOURCE: Final = "plimsoll"
"""The source of the service's events."""

SLACK_EXECUTIONS: Final = "slack-"
"""How the names of audits and validations begin that somebody asked for in Slack; no others do."""

CLAIM_PREFIX: Final = "claim#"
"""How the ids of claims begin in the table of coordination; what else is in it has other ids."""

DOCUMENT_NAME: Final = "Plimsoll-Benchmark"
PROBE_DOCUMENT_NAME: Final = "Plimsoll-Probe"
"""The documents of Systems Manager that hosts run: one measures, the other only reads."""

ACCOUNT_ID: Final = r"[0-9]{12}"
REGION_NAME: Final = r"[a-z]{2,8}(-[a-z]+)+-[0-9]{1,2}"
VOLUME_ID: Final = r"vol-[0-9a-z]{1,32}"
"""Patterns for a whole name, without ^ and $."""


def role_arn(account: str, role_name: str, partition: str = "aws", path: str = "/") -> str:
    """The ARN of a role of that name in an account, or of all accounts for "*"."""
    return f"arn:{partition}:iam::{account}:role{path}{role_name}"
