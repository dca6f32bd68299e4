"""As of which change an answer is: with it a page knows whether a list that it has is current."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from airboss.log.log import EventLog

HEADER = "X-Airboss-Lists"


class ListVersions:
    """ASGI middleware. Taken before anything is read for the answer, it is never too new."""

    def __init__(self, app: ASGIApp, log: EventLog) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/v1/"):
            await self._app(scope, receive, send)
            return
        version = str(self._log.lists_version)

        async def send_with_version(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = version
            await send(message)

        await self._app(scope, receive, send_with_version)
