"""What reading each cloud's metrics costs, by the name that targets have of it."""

from collections.abc import Callable, Mapping
from typing import Final

from plimsoll.clouds.aws.names import PROVIDER as AWS
from plimsoll.clouds.aws.tariff import tariff as aws_tariff
from plimsoll.clouds.google.names import PROVIDER as GOOGLE
from plimsoll.clouds.google.tariff import tariff as google_tariff
from plimsoll.domain.tariff import Tariff
from plimsoll.settings import Settings

_TARIFFS: Final[Mapping[str, Callable[[Settings], Tariff]]] = {
    AWS: aws_tariff,
    GOOGLE: google_tariff,
}


def tariff_of(provider: str, settings: Settings) -> Tariff:
    """What reading metrics costs in a cloud; KeyError for one that Plimsoll does not ask."""
    return _TARIFFS[provider](settings)
