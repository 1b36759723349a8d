"""Slack's secrets as the functions find them: one secret of Secrets Manager, read again every minute.

So a secret that was rotated holds within a minute, and nothing is deployed for it.
"""

import os
from typing import Final

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from plimsoll.domain.errors import BadInput

SECRET: Final = "PLIMSOLL_SLACK_SECRET"  # noqa: S105  # the variable with the secret's name
SECRET_AGE_S: Final = 60
"""How long a secret is believed before it is read again."""

_SHAPE: Final = '{"signing_secret": "...", "bot_token": "xoxb-..."}'


class _Secrets(BaseModel):
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    signing_secret: SecretStr = SecretStr("")
    bot_token: SecretStr = SecretStr("")


def signing_secret() -> str:
    """What Slack signs its requests with; BadInput where the secret lacks it."""
    return _given("signing_secret", _secrets().signing_secret)


def bot_token() -> str:
    """What the app calls Slack with; BadInput where the secret lacks it."""
    return _given("bot_token", _secrets().bot_token)


def _given(key: str, found: SecretStr) -> str:
    value = found.get_secret_value().strip()
    if not value:
        raise _unusable(f"has no {key}")
    return value


def _secrets() -> _Secrets:
    try:
        written = parameters.get_secret(_name(), max_age=SECRET_AGE_S)
    except GetParameterError as error:
        raise BadInput(
            f"the secret {_name()!r} that {SECRET} names cannot be read ({error}): deploy the service again."
        ) from error
    try:
        return _Secrets.model_validate_json(written)
    except ValidationError:
        # The error that this comes from would carry the secret along.
        raise _unusable("is no JSON of that shape") from None


def _unusable(fault: str) -> BadInput:
    return BadInput(
        f"the secret {_name()!r} {fault}: put {_SHAPE} there, with the values of the app's pages at api.slack.com/apps "
        f"(aws secretsmanager put-secret-value --secret-id {_name()} --secret-string file://slack.json)."
    )


def _name() -> str:
    return os.environ.get(SECRET, "")
