"""Patience: which failures of a call pass, and how often it is tried."""

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from google.api_core import exceptions as api
from google.api_core import retry as retries
from google.auth.exceptions import TransportError as TokenUnreachable
from requests import ConnectionError as NoConnection
from requests import Timeout
from requests.exceptions import ChunkedEncodingError

from plimsoll.clouds.google.errors import no_token_now, too_many

_PASSING: Final = (
    api.ServiceUnavailable,
    api.InternalServerError,
    api.BadGateway,
    api.GatewayTimeout,
    NoConnection,
    Timeout,
    ChunkedEncodingError,
    TokenUnreachable,
)
_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0

P = ParamSpec("P")
R = TypeVar("R")


class Patience(retries.Retry):
    """A retry that gives a call up after so many attempts, with what the last one ended in. Waits are random, below a
    bound that doubles."""

    def __init__(self, attempts: int) -> None:
        super().__init__(predicate=passing, initial=_FIRST_WAIT_S, maximum=_LONGEST_WAIT_S, timeout=None)
        self._attempts = attempts

    def __call__(self, func: Callable[P, R], on_error: Callable[[Exception], Any] | None = None) -> Callable[P, R]:
        """The call with its retries; each call counts its own attempts."""

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            left = iter(range(self._attempts - 1))
            once_more = retries.Retry(
                predicate=lambda error: passing(error) and next(left, None) is not None,
                initial=_FIRST_WAIT_S,
                maximum=_LONGEST_WAIT_S,
                timeout=None,
            )
            return once_more(func, on_error)(*args, **kwargs)

        return call


def passing(error: Exception) -> bool:
    """Whether the same call may go well a little later."""
    return isinstance(error, _PASSING) or too_many(error) or no_token_now(error)
