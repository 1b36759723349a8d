"""Disks of a project on Google Cloud, as its inventory makes them."""

from datetime import UTC, datetime

from plimsoll.model.volume import Attachment, Host, Volume
from tests.builders import a_volume

LONG_AGO_S = 1_600_000_020


def a_machine(id: str = "71") -> Host:  # noqa: A002  # as people say it
    """An instance by its numeric id."""
    return Host(id=id, type="n2-standard-8", limits=None)


def a_place(machine: str = "71", device: str = "disk-a", *, since_s: float = LONG_AGO_S) -> Attachment:
    """An attachment to a machine under a device name."""
    return Attachment(host=a_machine(machine), device=device, since=datetime.fromtimestamp(since_s, UTC))


def a_disk(
    *places: Attachment,
    name: str = "disk-a",
    id: str = "501",  # noqa: A002  # as people say it
    made_s: float = LONG_AGO_S,
    **fields: object,
) -> Volume:
    """A disk at some places; attached to nothing without any."""
    return a_volume(
        "pd-balanced",
        100,
        on=(),
        **{
            "id": id,
            "account": "shop-prod",
            "region": "us-central1",
            "zone": "us-central1-a",
            "created": datetime.fromtimestamp(made_s, UTC),
            "attachments": places,
            "tags": {"Name": name},
            **fields,
        },
    )
