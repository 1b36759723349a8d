"""Lists: answers and pages of AWS as types, asked again where one cannot be used, and never without an end."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

from botocore.parsers import ResponseParserError
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel, to_pascal

from plimsoll.clouds.aws.endpoints import limit_retries
from plimsoll.clouds.aws.errors import cloud_error
from plimsoll.clouds.common.answers import (
    CloudAnswer,
    Deadline,
    Pages,
    ask_again,
    ask_in_halves,
    doubt_nothing,
    read_answer,
)
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


class CamelAnswer(CloudAnswer):
    """A part of an answer whose fields begin with a small letter, as in events and in Compute Optimizer's answers."""

    model_config = ConfigDict(alias_generator=to_camel, defer_build=True)


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
    """A page that cannot be used: which of its list, why, and the token of the next page if that can be read."""

    number: int
    error: BadAnswer
    next_token: str | None = None

    @property
    def is_last(self) -> bool:
        """True if nothing behind it can be asked for."""
        return self.next_token is None

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
        return ask_again(
            partial(self._read, kind, ask, call, request),
            ASKED,
            doubted=doubted,
            deadline=self.deadline,
            pause=lambda number: self.sleep(_PAUSE_S * number),
        )

    def pages(self, kind: type[ReadPage], ask: CloudCall, call: str, /, **request: Any) -> Iterator[ReadPage]:
        """Every page of `each_page`. Raises BadAnswer for one that cannot be used."""
        for page in self.each_page(kind, ask, call, **request):
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
        """The pages of a list, in order, with the reason in the place of one that cannot be used: that is all it costs.

        The list goes on behind it if the token of the next page can be read. `asks_with` is what the service calls the
        token in a request.
        """
        bounds = Pages(what=f"read {self.place} ({call})", deadline=self.deadline, most_empty=MOST_EMPTY)
        next_one: dict[str, str] = {}
        for number in count(1):
            page: ReadPage | BadPage
            empty, content = False, None
            try:
                page = self.one(kind, ask, call, doubted=doubted, **request, **next_one)
                empty = page.is_empty
                content = repr(page.model_dump(exclude={"next_token"})) if page.next_token else None
            except UnusableError as error:
                page = BadPage(number=number, error=BadAnswer(str(error), error.raw), next_token=error.token)
            except ResponseParserError as error:
                reason = cloud_error(error, f"read page {number} of {self.place}", call)
                if not isinstance(reason, BadAnswer):
                    raise
                page = BadPage(number=number, error=reason, next_token=getattr(error, "token", None))
            yield page
            if not bounds.follow(page.next_token, empty=empty, content=content):
                return
            next_one = {asks_with: page.next_token or ""}

    def pages_of(
        self, names: Sequence[str], read: Callable[[Sequence[str]], Iterable["ReadPage | BadPage"]]
    ) -> Iterator["ReadPage | Lost"]:
        """The pages that `read` gives of some names. Where one cannot be used, its names are asked for in halves, until
        what spoils it is alone; what cannot be told apart so is lost together."""
        for part, pages in ask_in_halves(tuple(names), lambda part: list(read(part)), _find_bad, MOST_HALVED):
            yield from (page for page in pages if not isinstance(page, BadPage))
            if (bad := _find_bad(pages)) is not None:
                yield Lost(names=part, error=bad.error)

    def _read(self, kind: type[Read], ask: CloudCall, call: str, request: Mapping[str, Any]) -> Read:
        with limit_retries(self.deadline):
            raw = ask(**request)
        try:
            return read_answer(kind, raw, call=call, place=self.place)
        except BadAnswer as error:
            token = raw.get("NextToken") or raw.get("nextToken")
            raise UnusableError(str(error), error.raw, token if isinstance(token, str) and token else None) from error


def _find_bad(pages: Iterable[Page | BadPage]) -> BadPage | None:
    return next((page for page in pages if isinstance(page, BadPage)), None)
