"""Pages: the lists of Google's REST APIs, page by page, within a deadline and without a page twice.

A page that cannot be used is asked for once more. So is a last page that is full or has nothing: nothing else would
show that the list was cut short there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.common.answers import Deadline, Pages
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import BadAnswer
from plimsoll_google.clients import Clients
from plimsoll_google.errors import GOOGLE_AUDITING, call_errors

PAGE_TRIES: Final = 2
"""The times that a page is asked for if it cannot be used."""

ListCall = Callable[..., Any]
"""A method of one of Google's clients that lists something."""


def accept_page(_page: Any) -> None:
    """Accepts every page."""


def never_doubtful(_size: int) -> bool:
    """False for every size: the size of a page says nothing about its completeness."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedList:
    """A list: its purpose for the sentences of errors, and its deadline.

    - `what` follows "cannot", and `check` raises BadAnswer for a page that cannot be used.
    - `size` is how much a page has. `doubtful` says whether a last page of that size may lack something.
    """

    clients: Clients
    what: str
    place: str
    permission: str
    deadline: Deadline
    purpose: CallPurpose = GOOGLE_AUDITING
    check: Callable[[Any], None] = accept_page
    size: Callable[[Any], int]
    doubtful: Callable[[int], bool] = never_doubtful

    def pages(self, call: ListCall, request: Any) -> Iterator[Any]:
        """Every page of a call's list. Raises CloudError. The request is changed on the way."""
        bounds = Pages(what=self.what, deadline=self.deadline)
        while True:
            page = self._page(call, request)
            yield page
            if not bounds.follow(page.next_page_token, empty=not self.size(page), content=_content_of(page)):
                return
            request.page_token = page.next_page_token

    def _page(self, call: ListCall, request: Any) -> Any:
        page = self._ask(call, request)
        try:
            self.check(page)
        except BadAnswer:  # what cannot be read at all has been asked for again by the client
            page = self._ask(call, request)
            self.check(page)
        if page.next_page_token or not self.doubtful(self.size(page)):
            return page
        again = self._ask(call, request)
        self.check(again)
        return again if again.next_page_token or self.size(again) > self.size(page) else page

    def _ask(self, call: ListCall, request: Any) -> Any:
        with call_errors(self.what, self.place, self.permission, self.purpose):
            pager = call(request=request, **self.clients.tries_within(self.deadline))
            return next(iter(pager.pages))


def _content_of(page: Any) -> bytes:
    """A page without the token of the next one."""
    message = type(page).pb(page)
    copy = type(message)()
    copy.CopyFrom(message)
    copy.ClearField("next_page_token")
    content: bytes = copy.SerializeToString(deterministic=True)
    return content
