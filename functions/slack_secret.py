"""Slack's secrets, read from Secrets Manager at most once a minute. Rotated ones take effect within a minute."""

import os
from typing import Final

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from plimsoll.model.errors import BadInput

SECRET: Final = "PLIMSOLL_SLACK_SECRET"  # noqa: S105  # the variable with the secret's name
SECRET_AGE_S: Final = 60

_SHAPE: Final = '{"signing_secret": "...", "bot_token": "xoxb-..."}'


class _SlackSecrets(BaseModel):
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, defer_build=True)

    signing_secret: SecretStr = SecretStr("")
    bot_token: SecretStr = SecretStr("")


def signing_secret() -> str:
    """The secret with which Slack signs its requests. Raises BadInput if it is missing."""
    return _secret("signing_secret")


def bot_token() -> str:
    """The token with which the app calls Slack. Raises BadInput if it is missing."""
    return _secret("bot_token")


def _secret(key: str) -> str:
    name = os.environ.get(SECRET, "")
    try:
        written = parameters.get_secret(name, max_age=SECRET_AGE_S)
    except GetParameterError as error:
        raise BadInput(
            f"the secret {name!r} that {SECRET} names cannot be read ({error}): deploy the service again."
        ) from error
    return _secret_in(str(written), key, name)


def _secret_in(written: str, key: str, name: str) -> str:
    """One of the secrets in the text under `name`. BadInput if it is missing; the error shows none of the text."""
    try:
        secret: SecretStr = getattr(_SlackSecrets.model_validate_json(written), key)
    except ValidationError:
        # The error that this comes from would carry the secret along.
        raise _unusable(name, "is no JSON of that shape") from None
    value = secret.get_secret_value().strip()
    if not value:
        raise _unusable(name, f"has no {key}")
    return value


def _unusable(name: str, fault: str) -> BadInput:
    return BadInput(
        f"the secret {name!r} {fault}: put {_SHAPE} there, with the values of the app's pages at api.slack.com/apps "
        f"(aws secretsmanager put-secret-value --secret-id {name} --secret-string file://slack.json)."
    )
