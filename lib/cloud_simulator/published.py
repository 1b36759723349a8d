"""The figures that the simulator shares with Plimsoll: published limits and prices, and their types.

No other module imports Plimsoll, but the one that puts its agent on Google's bench machines. Nothing that Plimsoll
decides is here: what a cloud publishes is the same on both sides, as a mirror of one set of dated files.
"""

from functools import partial

from plimsoll.clouds.aws.hosts import described_limits as instance_limits
from plimsoll.clouds.common.dated_data import shipped_prices, volume_types
from plimsoll.model.ceiling import UNBOUNDED, Ceiling, TokenBucket
from plimsoll.model.market import Provisioned, TypePrice, VolumeType
from plimsoll.model.series import SERIES, WORK_SERIES
from plimsoll.model.volume import Host, VolumeSpec
from plimsoll.reading.window import Window
from plimsoll_google.machines import machine

__all__ = [
    "SERIES",
    "UNBOUNDED",
    "WORK_SERIES",
    "Ceiling",
    "Host",
    "Provisioned",
    "TokenBucket",
    "TypePrice",
    "VolumeSpec",
    "VolumeType",
    "Window",
    "aws_prices",
    "disk_types",
    "ebs_types",
    "google_prices",
    "instance_limits",
    "machine",
]

ebs_types, disk_types = partial(volume_types, "aws"), partial(volume_types, "google")
aws_prices, google_prices = partial(shipped_prices, "aws"), partial(shipped_prices, "google")
