"""The service's configuration as the functions find it: a parameter that the infrastructure writes."""

import json
import os
from typing import Any, Final

from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

from plimsoll.model.errors import BadInput
from plimsoll_service.slack_config import SlackConfig

CONFIG_PARAMETER: Final = "PLIMSOLL_CONFIG_PARAMETER"
CONFIG_AGE_S: Final = 60
"""The age at which a configuration is read again."""


def written_configuration() -> dict[str, Any]:
    """The configuration, at most a minute old, in plain values. BadInput if there is none."""
    name = os.environ.get(CONFIG_PARAMETER, "")
    try:
        written = parameters.get_parameter(name, max_age=CONFIG_AGE_S)
    except GetParameterError as error:
        raise BadInput(
            f"the configuration cannot be read from the parameter {name!r} that {CONFIG_PARAMETER} names ({error}): "
            "deploy the service again."
        ) from error
    return dict(json.loads(written))


def slack_configuration() -> SlackConfig | None:
    """Its part about Slack, None if there is none. The caller need not import the whole service."""
    plain = written_configuration().get("slack")
    return None if plain is None else SlackConfig.model_validate(plain)
