"""Finds the running server by its data folder and speaks v1 with it. Nobody else sends HTTP."""

import json
import os
import re
import socket
import ssl
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from airboss.cli.folder import data_folder
from airboss.cli.screen import visible_line
from airboss.cli.trouble import Busy, CommandRefused, Trouble, Unreachable
from airboss.store.folder import DataFolder

NO_SERVER = "No server is running on this data folder. Start one with: airboss serve"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# An answer may wait for the agent runtime's first start.
_ANSWER_SECONDS = 60.0
_CONNECT_SECONDS = 5.0
# The server's heartbeat comes every 5 s, that of the audit every 10 s: after two missed ones
# nobody is there.
_STREAM_QUIET_SECONDS = 25.0

_BUSY = (408, 429, 502, 503, 504)

Json = dict[str, Any]


@dataclass(frozen=True)
class Address:
    """Where a server is, and what opens it."""

    url: str
    token: str | None

    @property
    def is_local(self) -> bool:
        return urlsplit(self.url).hostname in _LOOPBACK


def find(chosen: Path | None, environ: Mapping[str, str] = os.environ) -> Address:
    """`AIRBOSS_URL`, else the server that runs on the data folder; its token goes with it."""
    folder = data_folder(chosen, environ)
    token = environ.get("AIRBOSS_TOKEN", "").strip() or None
    if url := environ.get("AIRBOSS_URL", "").strip():
        named = Address(_checked(url), token)
        # A token that lies on this machine is not shown to another one unasked.
        return Address(named.url, token or _token_of(folder)) if named.is_local else named
    note = folder.note()
    if note is None:
        raise Unreachable(NO_SERVER)
    return Address(note.url.rstrip("/"), token or _token_of(folder))


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandRefused("AIRBOSS_URL must be a URL such as http://127.0.0.1:8888.")
    return f"{parts.scheme}://{parts.netloc}"


def _token_of(folder: DataFolder) -> str | None:
    try:
        return folder.token.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


class EventsResponse:
    """An answer that goes on. One thread reads it, and any other may cut it."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._answer = answer

    @property
    def chunks(self) -> Iterator[bytes]:
        return self._answer.iter_bytes()

    def cut(self) -> None:
        """Whoever reads sees the connection end at once."""
        connection = self._answer.extensions["network_stream"].get_extra_info("socket")
        # That of the plain socket: a TLS one would change what the other thread reads with.
        with suppress(OSError):  # it has ended already
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Client:
    """One server's v1. Every refusal becomes a `Trouble` that says what to do."""

    def __init__(self, address: Address) -> None:
        self.address = address
        headers = {"User-Agent": "airboss-cli"}
        if address.token:
            headers["Authorization"] = f"Bearer {address.token}"
        self._http = httpx2.Client(
            base_url=address.url,
            headers=headers,
            timeout=httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            # Plain HTTP needs no certificates, and reading them is a third of the start-up time.
            # The system's context heeds SSL_CERT_FILE.
            verify=ssl.create_default_context() if address.url.startswith("https:") else False,
            # A proxy is for other machines.
            trust_env=not address.is_local,
        )

    def get(self, path: str, /, **query: Any) -> Json:
        given = {name: value for name, value in query.items() if value is not None}
        return self._call("GET", path, params=given)

    def post(
        self,
        path: str,
        body: Json | None = None,
        *,
        key: str | None = None,
        seconds: float = _ANSWER_SECONDS,
    ) -> Json:
        """With a `key` the server knows the same request again, and does it once."""
        headers = {"Idempotency-Key": key} if key else {}
        patience = httpx2.Timeout(seconds, connect=_CONNECT_SECONDS)
        return self._call("POST", path, json=body or {}, headers=headers, timeout=patience)

    def patch(self, path: str, body: Json) -> Json:
        return self._call("PATCH", path, json=body)

    def put(self, path: str, body: Json) -> Json:
        return self._call("PUT", path, json=body)

    def delete(self, path: str, /, **query: Any) -> Json:
        return self._call("DELETE", path, params=query)

    def healthy(self) -> bool:
        """Whether a server answers there, without a word on who asks."""
        try:
            return self._http.get("/healthz", timeout=2.0).status_code == 200
        except httpx2.HTTPError:
            return False

    @contextmanager
    def stream(self, path: str) -> Generator["EventsResponse"]:
        """An open stream of server-sent events."""
        quiet = httpx2.Timeout(_STREAM_QUIET_SECONDS, connect=_CONNECT_SECONDS)
        accept = {"Accept": "text/event-stream"}
        with (
            self._spoken(),
            self._http.stream("GET", path, headers=accept, timeout=quiet) as got,
        ):
            if got.status_code != 200:
                got.read()
                raise self._refusal(got)
            yield EventsResponse(got)

    @contextmanager
    def download(self, path: str, **query: str) -> Generator[httpx2.Response]:
        """An answer that may be longer than the memory."""
        with self._spoken(), self._http.stream("GET", path, params=query) as got:
            if got.status_code != 200:
                got.read()
                raise self._refusal(got)
            yield got

    def close(self) -> None:
        self._http.close()

    def _call(self, method: str, path: str, **kwargs: Any) -> Json:
        with self._spoken():
            try:
                answer = self._http.request(method, path, **kwargs)
            except UnicodeEncodeError:
                raise CommandRefused("Your text is not valid UTF-8.") from None
        if not answer.is_success:
            raise self._refusal(answer)
        if not answer.content:
            return {}
        try:
            return cast("Json", answer.json())
        except ValueError:
            text = f"The server at {self.address.url} is not Airboss, or is a different version."
            raise Trouble(text) from None

    @contextmanager
    def _spoken(self) -> Generator[None]:
        try:
            yield
        except httpx2.TimeoutException:
            text = f"The server at {self.address.url} did not answer in time."
            raise Unreachable(text) from None
        except httpx2.TransportError as error:
            # The transport's own words may quote what the other side sent.
            why = visible_line(re.sub(r"^\[Errno -?\d+\] ", "", str(error)))
            why = why or type(error).__name__
            text = f"Could not connect to the server at {self.address.url}: {why}"
            if "CERTIFICATE_VERIFY_FAILED" in why:
                text += ". To trust a self-signed certificate, set SSL_CERT_FILE to its file."
            raise Unreachable(text) from None

    def _refusal(self, answer: httpx2.Response) -> Trouble:
        problem = _problem(answer)
        if answer.status_code == 401 and problem.get("code") != "token_ended":
            return CommandRefused(self._unknown_token(), 401)
        text = visible_line(str(problem.get("detail") or problem.get("title") or ""))
        text = text or f"The server returned status {answer.status_code}."
        if answer.status_code in _BUSY:
            return Busy(text)
        if answer.status_code < 500:
            return CommandRefused(text, answer.status_code)
        request = problem.get("request_id")
        return Trouble(f"{text} (request {visible_line(str(request))})" if request else text)

    def _unknown_token(self) -> str:
        if self.address.token is None:
            return (
                "The server requires a token, and none was found. Pass the data folder of the "
                "server (--data DIR), or set AIRBOSS_TOKEN."
            )
        if os.environ.get("AIRBOSS_TOKEN"):
            return (
                "The token in AIRBOSS_TOKEN is not valid. Unset it to use the token of the data "
                "folder, or create a new one with: airboss token add NAME"
            )
        return (
            "The token of this data folder is not valid: the server was started with another one "
            "(AIRBOSS_TOKEN). Set the same token here, or restart the server without it."
        )


def _problem(answer: httpx2.Response) -> Json:
    try:
        said: object = json.loads(answer.content)
    except ValueError:
        return {}
    return cast("Json", said) if isinstance(said, dict) else {}
