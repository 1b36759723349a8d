"""Which places of a project hold a disk now."""

import pytest

from plimsoll.model.errors import AccessDenied
from plimsoll_google.inventory import AttachedPlaces
from tests.unit.google.google_here import denied

SHOP = "plimsoll-shop"
PLACE = f"{SHOP}/us-central1"


def test_the_places_of_a_project_are_listed_once(google, clients):
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "data", users=[host])
    held = AttachedPlaces(clients=clients)
    assert held(SHOP, PLACE) == {(str(host.id), "device-data-0")}
    asked = list(google.asked)
    assert held(SHOP, PLACE)
    assert google.asked == asked


def test_a_refusal_names_the_place_and_the_permission_and_is_not_kept(google, clients):
    host = google.instance(SHOP, "web-1")
    google.disk(SHOP, "data", users=[host])
    google.refused["compute.instances.list", SHOP] = [denied("compute.instances.list", SHOP)]
    held = AttachedPlaces(clients=clients)
    with pytest.raises(AccessDenied, match=rf"{PLACE}.*compute\.instances\.list"):
        held(SHOP, PLACE)
    assert held(SHOP, PLACE)
