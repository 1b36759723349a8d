"""Slack's secrets, read from Secrets Manager at most once a minute, so that rotated ones hold within a minute."""

import os
from typing import Final

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

from plimsoll.domain.errors import BadInput
from plimsoll.slack.secrets import secret_in

SECRET: Final = "PLIMSOLL_SLACK_SECRET"  # noqa: S105  # the variable with the secret's name
SECRET_AGE_S: Final = 60


def signing_secret() -> str:
    """What Slack signs its requests with; BadInput where the secret lacks it."""
    return _secret("signing_secret")


def bot_token() -> str:
    """What the app calls Slack with; BadInput where the secret lacks it."""
    return _secret("bot_token")


def _secret(key: str) -> str:
    name = os.environ.get(SECRET, "")
    try:
        written = parameters.get_secret(name, max_age=SECRET_AGE_S)
    except GetParameterError as error:
        raise BadInput(
            f"the secret {name!r} that {SECRET} names cannot be read ({error}): deploy the service again."
        ) from error
    return secret_in(str(written), key, name)
