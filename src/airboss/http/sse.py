"""One stream to one viewer, from any point, in order, without a gap."""

from typing import ClassVar

from starlette.types import Receive, Scope, Send

from airboss.http.server_sent import ServerSentResponse, ServerSentWriter, now_ms, pieces
from airboss.log.log import EventLog
from airboss.model.events import Recorded


class EventStream(ServerSentResponse):
    """An answer that goes on until the stream ends, the reader leaves or the server stops."""

    heartbeat_seconds: ClassVar[float] = 10.0

    def __init__(
        self, log: EventLog, stream: str, after: int, last_event_id: str | None = None
    ) -> None:
        super().__init__()
        self._log = log
        self._stream = stream
        self._after = after
        # A browser's `EventSource` comes back behind every end, until it hears 204.
        self._comes_back = bool(last_event_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._comes_back and await self._is_over():
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await super().__call__(scope, receive, send)

    async def _is_over(self) -> bool:
        view = await self._log.view(self._stream)
        return view is not None and view.is_over and view.seq <= self._after

    async def tell(self, writer: ServerSentWriter) -> None:
        async with self._log.follow(self._stream, self._after) as follower:
            while True:
                over = follower.view is not None and follower.view.is_over
                found = await follower.next(0 if over else writer.seconds_to_heartbeat)
                is_quiet = not found
                for piece, _ in pieces(found, _frame):
                    await writer.write(piece)
                if is_quiet and over:
                    await writer.note("end", seq=follower.seq, at=now_ms())
                    return
                if is_quiet and (self._log.is_closing or follower.is_forgotten):
                    return
                await writer.heartbeat(seq=follower.seq, at=now_ms())


def _frame(recorded: Recorded) -> str:
    return f"id: {recorded.seq}\ndata: {recorded.json}\n\n"
