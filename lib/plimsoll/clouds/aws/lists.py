"""Lists: answers and pages of AWS as types, asked again where one cannot be used, and never without an end."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import ConfigDict
from pydantic.alias_generators import to_pascal

from plimsoll.clouds.aws.endpoints import within
from plimsoll.clouds.common.answers import Answer, read_answer
from plimsoll.clouds.common.bounds import Deadline, Pages
from plimsoll.domain.errors import BadAnswer

ASKED: Final = 3
"""How often something is asked whose answer cannot be used, before it fails by name."""

LIST_DEADLINE_S: Final = 300.0
"""How long a list may take where no setting says it."""

MOST_EMPTY: Final = 100
"""Pages in a row without anything, after which a list is given up: more than by default, since a list that is filtered
after its pages were cut can have many, and these calls cost nothing."""

_PAUSE_S: Final = 0.1


class AwsAnswer(Answer):
    """A part of an answer of AWS, whose fields are named as AWS names them."""

    model_config = ConfigDict(alias_generator=to_pascal, defer_build=True)


class Page(AwsAnswer):
    """A page of a list, with the token of the next one."""

    next_token: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it lists nothing."""
        return not any(value for name, value in self if name != "next_token")


Read = TypeVar("Read", bound=Answer)
ReadPage = TypeVar("ReadPage", bound=Page)
Ask = Callable[..., Mapping[str, Any]]


def never(_answer: Any) -> bool:
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
        self, kind: type[Read], ask: Ask, call: str, /, doubted: Callable[[Read], bool] = never, **request: Any
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
        ask: Ask,
        call: str,
        /,
        doubted: Callable[[ReadPage], bool] = never,
        asks_with: str = "NextToken",
        **request: Any,
    ) -> Iterator[ReadPage]:
        """Every page of a list, in order. `asks_with` is what the service calls the token in a request."""
        bounds = Pages(what=f"read {self.place} ({call})", deadline=self.deadline, most_empty=MOST_EMPTY)
        token: str | None = None
        while True:
            next_one = {asks_with: token} if token else {}
            page = self.one(kind, ask, call, doubted=doubted, **request, **next_one)
            yield page
            token = page.next_token
            if not bounds.follow(token, empty=page.is_empty):
                return

    def _read(self, kind: type[Read], ask: Ask, call: str, request: Mapping[str, Any]) -> Read:
        with within(self.deadline):
            raw = ask(**request)
        return read_answer(kind, raw, call=call, place=self.place)
