"""The places of every cloud, for functions that audit."""

from collections.abc import Mapping

from plimsoll.settings import Settings
from plimsoll_google.places import google_places
from plimsoll_service.bootstrap.aws_places import aws_places
from plimsoll_service.config import ServiceConfig
from plimsoll_service.service import ServicePlaces


def all_places(config: ServiceConfig, settings: Settings) -> Mapping[str, ServicePlaces]:
    """The places of every cloud by its name."""
    return {**aws_places(config, settings), **google_places(config, settings)}
