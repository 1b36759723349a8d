"""Pages: the lists of Google's REST APIs, page by page, within a deadline and without a page twice.

A page that cannot be used is asked for once more; so is one that is full and yet names no next one, because nothing
else would tell that the list was cut short there.
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


def never_full(_page: Any) -> bool:
    """How much a page holds says nothing of whether another follows."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list: what it is read for, as its errors say it, and until when.

    `what` follows "cannot". `check` raises BadAnswer for a page that cannot be used; `is_full` says whether a page
    holds as much as was asked for.
    """

    clients: Clients
    what: str
    place: str
    permission: str
    deadline: Deadline
    purpose: Purpose = AUDITING
    check: Callable[[Any], None] = usable
    is_full: Callable[[Any], bool] = never_full

    def pages(self, call: Call, request: Any) -> Iterator[Any]:
        """Every page of what a call lists; raises CloudError. The request is changed on the way."""
        bounds = Pages(what=self.what, deadline=self.deadline)
        while True:
            page = self._page(call, request)
            yield page
            if not bounds.follow(page.next_page_token):
                return
            request.page_token = page.next_page_token

    def _page(self, call: Call, request: Any) -> Any:
        page = self._asked(call, request)
        try:
            self.check(page)
        except BadAnswer:
            page = self._asked(call, request)
            self.check(page)
        if page.next_page_token or not self.is_full(page):
            return page
        again = self._asked(call, request)
        self.check(again)
        return again if again.next_page_token else page

    def _asked(self, call: Call, request: Any) -> Any:
        with answered(self.what, self.place, self.permission, self.purpose):
            pager = call(request=request, **self.clients.tries_within(self.deadline))
            return next(iter(pager.pages))
