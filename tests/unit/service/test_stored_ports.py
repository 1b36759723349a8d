"""What was listed before is given again as it was, errors in their places."""

import pytest

from plimsoll.model.errors import AccessDenied, Unreachable
from plimsoll.ports import Target
from plimsoll_service.inventory import StoredInventory, StoredPrices
from tests.builders import US_EAST_1, a_volume

HERE = Target(account="111122223333", region="us-east-1")


def test_a_list_is_given_again_with_what_is_to_be_known_of_it():
    given = [a_volume(id="vol-1"), a_volume(id="vol-2")]
    inventory = StoredInventory(target=HERE, given=given, texts=("mind the gap",))
    assert list(inventory.targets()) == [HERE]
    assert list(inventory.volumes(HERE)) == given
    assert list(inventory.notices(HERE)) == ["mind the gap"]


def test_a_list_that_ended_in_an_error_ends_in_it_again():
    inventory = StoredInventory(target=HERE, given=[a_volume()], error=AccessDenied("no entry"))
    volumes = inventory.volumes(HERE)
    assert next(volumes).id == "vol-1"
    with pytest.raises(AccessDenied, match="no entry"):
        next(volumes)


@pytest.mark.parametrize("answer", [US_EAST_1, None])
def test_prices_are_those_that_were_listed(answer):
    assert StoredPrices(answer=answer).book(HERE) is answer


def test_prices_that_could_not_be_read_cannot_be_read_again():
    with pytest.raises(Unreachable, match="no way"):
        StoredPrices(answer=Unreachable("no way")).book(HERE)
