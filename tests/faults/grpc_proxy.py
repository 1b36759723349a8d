"""The proxy of gRPC: Cloud Monitoring on loopback, as the proxy of HTTP is, with the answers' bytes passed on."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import grpc

from .calls import GRPC, Asked
from .proxy import Proxy
from .refusals import SLOW, Reply

_METHOD: Final = "/google.monitoring.v3.MetricService/ListTimeSeries"
_WHOLE: Final = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_HANGS_S: Final = 3.0
_CODES: Final = {"reset": "UNAVAILABLE", "cut": "UNAVAILABLE", "torn": "INTERNAL"}


@contextmanager
def grpc_proxied(proxy: Proxy, upstream: str) -> Iterator[int]:
    """Serves on a free port for as long as the block lasts."""
    with grpc.insecure_channel(upstream, options=_WHOLE) as channel:
        ask = channel.unary_unary(_METHOD)

        def forward(asked: Asked) -> Reply:
            key = (asked.service, asked.key)
            if key not in proxy.kept:
                proxy.kept[key] = Reply(headers={"Content-Type": "application/proto"}, body=ask(asked.body))
            return proxy.kept[key]

        def answer(request: bytes, context: Any) -> bytes:
            reply = proxy.injector.answer(_asked(request), forward)
            if reply.how in {"hanging", *SLOW}:  # gRPC passes messages on whole: a drip is silence
                _hang(context)
            if reply.how not in {"whole", "dripping"}:
                code = getattr(grpc.StatusCode, _CODES.get(reply.how, reply.how.upper()), grpc.StatusCode.UNAVAILABLE)
                context.abort(code, f"simulated {reply.how}")
            return reply.body

        class Handler(grpc.GenericRpcHandler):
            def service(self, details: Any) -> Any:
                return grpc.unary_unary_rpc_method_handler(answer) if details.method == _METHOD else None

        server = grpc.server(ThreadPoolExecutor(16), handlers=[Handler()], options=[("grpc.so_reuseport", 0), *_WHOLE])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield port
        finally:
            server.stop(None)


def _asked(request: bytes) -> Asked:
    return Asked(
        cloud="google",
        account="",
        region="",
        service="monitoring",
        operation=GRPC,
        protocol="grpc",
        method="POST",
        target=_METHOD,
        headers={},
        body=request,
    )


def _hang(context: Any) -> None:
    """Waits until the other side gives up."""
    until = time.monotonic() + _HANGS_S
    while context.is_active() and time.monotonic() < until:
        time.sleep(0.05)
