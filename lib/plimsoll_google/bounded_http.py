"""Bounded HTTP: answers of Google's REST APIs and of its token services end within their time."""

from typing import Any, TypeVar

from requests import PreparedRequest, ReadTimeout, Response, Session
from requests.adapters import HTTPAdapter

from plimsoll.clouds.common.answers import Waits, carry_out_within

SessionT = TypeVar("SessionT", bound=Session)


def bound(session: SessionT, waits: Waits) -> SessionT:
    """The session, whose answers and whose tokens' answers end within their time."""
    # google-auth has no public way to the session of its tokens
    token_session: Session = getattr(session, "_auth_request_session", None) or session
    for bounded in (session, token_session):
        for scheme in ("https://", "http://"):
            before: Any = bounded.get_adapter(scheme)
            bounded.mount(scheme, _BoundedAdapter(waits, before.max_retries))
    return session


class _BoundedAdapter(HTTPAdapter):
    """Raises ReadTimeout if an answer with its body takes longer than it may, however it comes."""

    def __init__(self, waits: Waits, retries: Any) -> None:
        super().__init__(max_retries=retries)
        self._waits = waits

    def send(self, request: PreparedRequest, stream: bool = False, timeout: Any = None, **others: Any) -> Response:  # type: ignore[override]  # the base class's
        """The answer, whose body has been read."""
        waits = self._waits
        seconds = min(waits.answer_s, timeout) if isinstance(timeout, int | float) else waits.answer_s
        silence = min(waits.connect_s, seconds), min(waits.silence_s, seconds)

        def ask() -> Response:
            answer = super(_BoundedAdapter, self).send(request, stream, silence, **others)
            _ = answer.content
            return answer

        try:
            return carry_out_within(seconds, ask)
        except TimeoutError as error:
            raise ReadTimeout(f"the answer took longer than {seconds:g} seconds in all", request=request) from error
