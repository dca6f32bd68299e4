"""HEAD, wherever GET is answered: the same head, and nothing behind it."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _HeadSent(Exception):
    """The head is out, so nobody needs what comes behind it."""


class HeadAnswers:
    """ASGI middleware: answers HEAD by what GET says. Pages do this by themselves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            raise _HeadSent  # a stream would go on for as long as its reader stays

        try:
            await self._app({**scope, "method": "GET"}, receive, send_head)
        except _HeadSent:
            return
