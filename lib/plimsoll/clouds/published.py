"""The published facts of all clouds: their volume types, which policies and measurements may name."""

from collections.abc import Mapping

from plimsoll.clouds.cloud import PublishedHost, published_facts
from plimsoll.clouds.common.dated_data import find_data, volume_types
from plimsoll.clouds.registry import CLOUDS
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.market import VolumeType
from plimsoll.reading.cost import QueryCost
from plimsoll.settings import Settings


def types_by_cloud() -> Mapping[str, Mapping[str, VolumeType]]:
    """The volume types of each installed cloud by name, by the cloud's name. Data is read, and no package imported."""
    return {name: volume_types(name) for name in CLOUDS if find_data(name) is not None}


def published_types() -> Mapping[str, VolumeType]:
    """The volume types of all clouds by name; no two clouds have one of the same name."""
    return {name: kind for types in types_by_cloud().values() for name, kind in types.items()}


def cloud_of(type_name: str) -> str | None:
    """The name of the cloud that publishes a volume type; None where none does."""
    return next((cloud for cloud, types in types_by_cloud().items() if type_name in types), None)


def host_cap(host_type: str, type_name: str) -> Ceiling | None:
    """The ceiling that all volumes of a type share on a host of a type; None if none is published."""
    cloud = cloud_of(type_name)
    return None if cloud is None else published_facts(CLOUDS[cloud]).host_cap(host_type, type_name)


def published_host(provider: str, host_type: str) -> PublishedHost | None:
    """The published limits of a host by its type; None if they are not known."""
    cloud = CLOUDS.get(provider)
    return None if cloud is None else published_facts(cloud).host(host_type)


def query_cost_of(provider: str, settings: Settings) -> QueryCost:
    """The cost of reading metrics in a cloud; KeyError for one that Plimsoll does not ask."""
    return published_facts(CLOUDS[provider]).query_cost(settings)
