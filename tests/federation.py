"""Google's token service, IAM Credentials and Compute Engine on loopback: who asked for what, and by which token."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote

AUDIENCE = (
    "//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/plimsoll/providers/aws-tools"
)
FEDERATED = "ya29.federated"
IMPERSONATED = "ya29.of-the-service-account"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: str

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body).items()}

    @property
    def bearer(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def proof(self) -> dict[str, Any]:
        """The signed request of AWS's that stands in an exchange as its subject token."""
        signed = json.loads(unquote(self.form["subject_token"]))
        return {**signed, "headers": {each["key"].lower(): each["value"] for each in signed["headers"]}}


@dataclass(kw_only=True)
class FakeGoogle:
    """What was asked, in order. `refusal` is what the token service answers instead of a token."""

    url: str = ""
    asked: list[Request] = field(default_factory=list)
    refusal: dict[str, str] | None = None

    def of(self, part: str) -> list[Request]:
        """The requests whose path has that part."""
        return [request for request in self.asked if part in request.path]

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        if path.startswith("/v1/token"):
            token = {"access_token": FEDERATED, "token_type": "Bearer", "expires_in": 3600}
            return (200, token) if self.refusal is None else (400, self.refusal)
        if path.endswith(":generateAccessToken"):
            return 200, {"accessToken": IMPERSONATED, "expireTime": "2099-01-01T00:00:00Z"}
        return (200, {"items": {}}) if "/aggregated/disks" in path else (404, {})

    def config(self, **more: Any) -> dict[str, Any]:
        """The configuration of credentials, as `gcloud` writes it, whose tokens come from here."""
        return {
            "type": "external_account",
            "audience": AUDIENCE,
            "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
            "token_url": f"{self.url}/v1/token",
            "credential_source": {
                "environment_id": "aws1",
                "region_url": "http://169.254.169.254/latest/meta-data/placement/availability-zone",
                "url": "http://169.254.169.254/latest/meta-data/iam/security-credentials",
                "regional_cred_verification_url": "https://sts.{region}.amazonaws.com"
                "?Action=GetCallerIdentity&Version=2011-06-15",
            },
            **more,
        }


@contextmanager
def fake_google() -> Iterator[FakeGoogle]:
    """Answers on loopback while the block runs."""
    there = FakeGoogle()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(there))
    there.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(there: FakeGoogle) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_words: object) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            there.asked.append(Request(path=self.path, headers=headers, body=body))
            status, content = there.answer(self.path)
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_CONNECT = _answer  # noqa: N815 - http.server calls them so

    return Handler
