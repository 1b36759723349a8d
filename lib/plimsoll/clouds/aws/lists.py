"""Lists: answers and pages of AWS as types, asked again where one cannot be used, and never without an end."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeVar

from botocore.parsers import ResponseParserError
from pydantic import ConfigDict
from pydantic.alias_generators import to_pascal

from plimsoll.clouds.aws.endpoints import limit_retries
from plimsoll.clouds.aws.errors import cloud_error
from plimsoll.clouds.common.answers import CloudAnswer, Deadline, Pages, read_answer
from plimsoll.model.errors import BadAnswer

ASKED: Final = 3
"""How often something is asked whose answer cannot be used, before it fails by name."""

LIST_DEADLINE_S: Final = 300.0
"""How long a list may take where no setting says it."""

MOST_EMPTY: Final = 100
"""Pages in a row without anything, after which a list is given up: more than by default, since a list that is filtered
after its pages were cut can have many, and these calls cost nothing."""

_PAUSE_S: Final = 0.1


class AwsAnswer(CloudAnswer):
    """A part of an answer of AWS, whose fields are named as AWS names them."""

    model_config = ConfigDict(alias_generator=to_pascal, defer_build=True)


class Page(AwsAnswer):
    """A page of a list, with the token of the next one."""

    next_token: str | None = None

    @property
    def is_empty(self) -> bool:
        return not any(value for name, value in self if name != "next_token")


class UnusableError(BadAnswer):
    """An answer that cannot be used, and the token of the next page if it names one."""

    def __init__(self, sentence: str, raw: str = "", token: str | None = None) -> None:
        """`sentence` is what a person reads."""
        super().__init__(sentence, raw)
        self.token = token


@dataclass(frozen=True, slots=True, kw_only=True)
class BadPage:
    """A page that cannot be used: which of its list, why, and whether nothing behind it can be asked for."""

    number: int
    error: BadAnswer
    is_last: bool

    def lost_part(self, what: str) -> str:
        """Words for the part of a list that is lost with the page."""
        return f"page {self.number} of {what}" if not self.is_last else f"page {self.number} and what follows of {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Names that no answer can be used of, and why."""

    names: Sequence[str]
    error: BadAnswer


MOST_HALVED: Final = 24
"""Answers of one list that are asked for in halves: enough for two that are spoiled by one name of 500 each."""

Read = TypeVar("Read", bound=CloudAnswer)
ReadPage = TypeVar("ReadPage", bound=Page)
CloudCall = Callable[..., Mapping[str, Any]]


def doubt_nothing(_answer: Any) -> bool:
    """No answer that can be read is doubted."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks for answers about one place, within one deadline for all of them.

    Raises BadAnswer where one stays unusable, Endless where a list has no end, and what botocore raises. An answer that
    is `doubted` is asked again too, and taken as it is at last.
    """

    place: str
    deadline: Deadline = field(default_factory=lambda: Deadline(seconds=LIST_DEADLINE_S))
    sleep: Callable[[float], None] = time.sleep

    def one(
        self,
        kind: type[Read],
        ask: CloudCall,
        call: str,
        /,
        doubted: Callable[[Read], bool] = doubt_nothing,
        **request: Any,
    ) -> Read:
        """The answer to one call."""
        attempt = 1
        while True:
            last = attempt == ASKED or self.deadline.left_s <= 0
            try:
                answer = self._read(kind, ask, call, request)
            except BadAnswer:
                if last:
                    raise
            else:
                if last or not doubted(answer):
                    return answer
            self.sleep(_PAUSE_S * attempt)
            attempt += 1

    def pages(
        self,
        kind: type[ReadPage],
        ask: CloudCall,
        call: str,
        /,
        doubted: Callable[[ReadPage], bool] = doubt_nothing,
        asks_with: str = "NextToken",
        **request: Any,
    ) -> Iterator[ReadPage]:
        """Every page of a list, in order. `asks_with` is what the service calls the token in a request."""
        for page in self.each_page(kind, ask, call, doubted=doubted, asks_with=asks_with, **request):
            if isinstance(page, BadPage):
                raise page.error
            yield page

    def each_page(
        self,
        kind: type[ReadPage],
        ask: CloudCall,
        call: str,
        /,
        doubted: Callable[[ReadPage], bool] = doubt_nothing,
        asks_with: str = "NextToken",
        **request: Any,
    ) -> Iterator["ReadPage | BadPage"]:
        """The pages of `pages`, with the reason in the place of a page that cannot be used: that page is all it costs.

        The list goes on behind it if the token of the next page can be read.
        """
        bounds = Pages(what=f"read {self.place} ({call})", deadline=self.deadline, most_empty=MOST_EMPTY)
        token: str | None = None
        for number in count(1):
            next_one = {asks_with: token} if token else {}
            page: ReadPage | BadPage
            content: str | None = None
            try:
                page = self.one(kind, ask, call, doubted=doubted, **request, **next_one)
                token, empty = page.next_token, page.is_empty
                content = repr(page.model_dump(exclude={"next_token"})) if token else None
            except UnusableError as error:
                token, empty = error.token, False
                page = BadPage(number=number, error=BadAnswer(str(error), error.raw), is_last=token is None)
            except ResponseParserError as error:
                token, empty = getattr(error, "token", None), False
                reason = cloud_error(error, f"read page {number} of {self.place}", call)
                if not isinstance(reason, BadAnswer):
                    raise
                page = BadPage(number=number, error=reason, is_last=token is None)
            yield page
            if not bounds.follow(token, empty=empty, content=content):
                return

    def pages_of(
        self, names: Sequence[str], read: Callable[[Sequence[str]], Iterable["ReadPage | BadPage"]]
    ) -> Iterator["ReadPage | Lost"]:
        """The pages that `read` gives of some names. Where one cannot be used, its names are asked for in halves, until
        what spoils it is alone; what cannot be told apart so is lost together."""
        waiting, failed = deque([tuple(names)]), 0
        while waiting:
            chunk = waiting.popleft()
            pages = list(read(chunk))
            bad = next((page for page in pages if isinstance(page, BadPage)), None)
            if bad is not None and len(chunk) > 1 and failed < MOST_HALVED:
                failed += 1
                waiting += [chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]]
                continue
            yield from (page for page in pages if not isinstance(page, BadPage))
            if bad is not None:
                yield Lost(names=chunk, error=bad.error)

    def _read(self, kind: type[Read], ask: CloudCall, call: str, request: Mapping[str, Any]) -> Read:
        with limit_retries(self.deadline):
            raw = ask(**request)
        try:
            return read_answer(kind, raw, call=call, place=self.place)
        except BadAnswer as error:
            token = raw.get("NextToken")
            raise UnusableError(str(error), error.raw, token if isinstance(token, str) and token else None) from error
