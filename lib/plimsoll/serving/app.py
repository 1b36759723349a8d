"""The application of `plimsoll serve`: four addresses that are only read, for browsers and scrapers that are let in."""

from typing import Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.bootstrap.consoles import console_link
from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll.model.volume_names import nearest_hint, quote_word
from plimsoll.orders import read_order
from plimsoll.reports.open_metrics import CONTENT_TYPE, MEDIA_TYPE, PLAIN_CONTENT_TYPE
from plimsoll.reports.printable import printable
from plimsoll.reports.run_reader import find_profile, find_record, full_name, name_of_record, stream_records
from plimsoll.serving.door import Door, DoorTerms
from plimsoll.serving.live_report import LiveReport
from plimsoll.serving.volume_page import message_page, volume_history, volume_page

HEADERS: Final = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every answer. Each page has a content security policy of its own besides, and both hold."""


UNUSABLE_RUN: Final = (PlimsollError, OSError, ValueError)
"""The errors of a run that cannot be used: a sentence is shown in its place, and other pages go on."""


def application(report: LiveReport, terms: DoorTerms) -> Starlette:
    """The application that serves a live report to browsers that keep to the terms."""

    def page(_request: Request) -> Response:
        try:
            return FileResponse(report.page(), media_type="text/html")
        except UNUSABLE_RUN as error:
            return HTMLResponse(
                message_page("There is nothing to show yet", printable(str(error)), waits=True), status_code=503
            )

    def state(_request: Request) -> Response:
        try:
            current = report.state()
        except UNUSABLE_RUN as error:
            return JSONResponse({"told": printable(str(error))}, status_code=503)
        return JSONResponse({"version": current.version, "told": current.told, "running": current.running})

    def volume(request: Request) -> Response:
        try:
            return _volume(report, request.path_params["name"])
        except UNUSABLE_RUN as error:
            return HTMLResponse(message_page("No page of one volume", printable(str(error))), status_code=404)

    def metrics(request: Request) -> Response:
        try:
            path = report.metrics()
        except UNUSABLE_RUN as error:
            return PlainTextResponse(printable(str(error)), status_code=503)
        takes_open = MEDIA_TYPE in request.headers.get("accept", "")
        return FileResponse(path, headers={"Content-Type": CONTENT_TYPE if takes_open else PLAIN_CONTENT_TYPE})

    def absent(_request: Request, _error: Exception) -> Response:
        return HTMLResponse(
            message_page("There is no such page", "A volume's page is /volume/ID, or /volume/NAME."), status_code=404
        )

    # A name may have slashes, as account/region/id does.
    routes = [
        Route("/", page),
        Route("/state.json", state),
        Route("/metrics", metrics),
        Route("/volume/{name:path}", volume),
    ]
    middleware = [Middleware(_Headers), Middleware(Door, terms=terms)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={404: absent})


def _volume(report: LiveReport, name: str) -> Response:
    """The page of a volume; a redirection to it from any other name that people have for the volume."""
    folder = report.folder()
    record = find_record(folder, name)
    if record is None:
        hint = nearest_hint(name, map(name_of_record, stream_records(folder))) or "go back to the report."
        raise BadInput(f"the run {folder.name} has no recommendation for {quote_word(name)}: {hint}")
    if name != full_name(record):
        return RedirectResponse(f"/volume/{quote(full_name(record))}", status_code=303)
    order = read_order(folder)
    past = list(volume_history(name, folder.parent))
    link = console_link(record, order.policy, order.now)
    return HTMLResponse(volume_page(record, find_profile(folder, name), past, link))


class _Headers:
    """Puts the headers of every answer on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)
