"""Pages put together are the list, and a token that no page gave is refused by the service's own code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloud_simulator.faults import Refused
from cloud_simulator.paging import page_of


@given(st.lists(st.integers(), max_size=40), st.integers(1, 50), st.integers(1, 20))
def test_pages_put_together_are_the_list(items, size, most):
    token, pages = None, []
    while not pages or token is not None:
        page, token = page_of(items, token, size, most=most, refusal="No")
        assert len(page) <= min(size, most)
        pages.append(page)
    assert [item for page in pages for item in page] == items


@pytest.mark.parametrize(("token", "size"), [("once", None), ("-1", None), (None, "0"), (None, "many"), (3.5, None)])
def test_what_no_page_has_is_refused_by_the_services_code(token, size):
    with pytest.raises(Refused) as refused:
        page_of([1, 2, 3], token, size, most=2, refusal="InvalidNextToken")
    assert refused.value.code == "InvalidNextToken"
