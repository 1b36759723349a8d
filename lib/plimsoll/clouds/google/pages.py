"""Pages: the lists of Google's REST APIs, page by page, within a deadline and without a page twice.

A page that cannot be used is asked for once more. So is a last page that is full or has nothing: nothing else would
show that the list was cut short there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from plimsoll.clouds.common.bounds import Deadline, Pages
from plimsoll.clouds.common.messages import Purpose
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.errors import AUDITING, answered
from plimsoll.domain.errors import BadAnswer

Call = Callable[..., Any]
"""A method of one of Google's clients that lists something."""


def usable(_page: Any) -> None:
    """Nothing is asked of a page."""


def never(_size: int) -> bool:
    """How much a page has says nothing of whether it has all."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list: what it is read for, as its errors say it, and until when.

    - `what` follows "cannot", and `check` raises BadAnswer for a page that cannot be used.
    - `size` is how much a page has. `doubtful` says whether a last page of that size may lack something.
    """

    clients: Clients
    what: str
    place: str
    permission: str
    deadline: Deadline
    purpose: Purpose = AUDITING
    check: Callable[[Any], None] = usable
    size: Callable[[Any], int]
    doubtful: Callable[[int], bool] = never

    def pages(self, call: Call, request: Any) -> Iterator[Any]:
        """Every page of what a call lists; raises CloudError. The request is changed on the way."""
        bounds = Pages(what=self.what, deadline=self.deadline)
        while True:
            page = self._page(call, request)
            yield page
            if not bounds.follow(page.next_page_token, empty=not self.size(page)):
                return
            request.page_token = page.next_page_token

    def _page(self, call: Call, request: Any) -> Any:
        page = self._asked(call, request)
        try:
            self.check(page)
        except BadAnswer:
            page = self._asked(call, request)
            self.check(page)
        if page.next_page_token or not self.doubtful(self.size(page)):
            return page
        again = self._asked(call, request)
        self.check(again)
        return again if again.next_page_token or self.size(again) > self.size(page) else page

    def _asked(self, call: Call, request: Any) -> Any:
        with answered(self.what, self.place, self.permission, self.purpose):
            pager = call(request=request, **self.clients.tries_within(self.deadline))
            return next(iter(pager.pages))
