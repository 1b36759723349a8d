"""A live page on loopback, served by this process."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def served(place: Path, run: Path | None = None, **terms: Any) -> Iterator[str]:
    """Where a run, or the newest one, is served for as long as the block lasts."""
    import uvicorn  # noqa: PLC0415  # the extra may not be installed

    from plimsoll.serving.app import application  # noqa: PLC0415  # as above
    from plimsoll.serving.door import DoorTerms  # noqa: PLC0415  # as above
    from plimsoll.serving.live_report import LiveReport  # noqa: PLC0415  # as above

    place.mkdir(exist_ok=True)
    listening = socket.create_server(("127.0.0.1", 0))
    app = application(LiveReport(place=place, run=run), DoorTerms(**terms))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=5)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
