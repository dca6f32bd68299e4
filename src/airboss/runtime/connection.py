"""How the SDK's client comes to a runtime: one that we start, alone or shared, or another's."""

import asyncio
import contextlib
import json
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from airboss.errors import RuntimeUnavailable
from airboss.runtime.handed_calls import ServeCall
from airboss.runtime.locate import CLI_VERSION
from airboss.runtime.pids import supervised
from airboss.runtime.sdk_internals import buffered
from airboss.runtime.span_target import SpanTarget
from airboss.runtime_settings import RUNTIME_TOKEN

if TYPE_CHECKING:
    from copilot import CopilotClient, CopilotRequestHandler

# Where the address and the token of a shared runtime are, in the folder of notes.
SHARED_SUFFIX: Final = ".shared"
_TOKEN_BYTES: Final = 24
_CONNECT_SECONDS: Final = 12.0
_AGAIN_SECONDS: Final = 0.25
_NOT_LET_IN: Final = "AUTHENTICATION_FAILED"
_MISMATCH: Final = "protocol version mismatch"


@dataclass(frozen=True)
class OutsideRuntime:
    """A runtime that somebody else started, and what lets us in there."""

    url: str
    token: str | None = field(default=None, repr=False)
    # So long one that was lost is looked for: whoever started it may start it again.
    return_seconds: float = 10.0


@dataclass(frozen=True)
class ClientPlan:
    """What a client of a runtime that we start is made of."""

    program: Path
    note: Path
    home: Path
    environ: dict[str, str]
    signed_in_user: bool
    spans: SpanTarget | None
    # What lets others in, where it is shared with them.
    shared_token: str | None = field(default=None, repr=False)
    # In a cage: where its outer process starts, and the command that becomes the program inside.
    folder: Path | None = None
    outer: tuple[str, ...] = ()
    # Who makes its calls to models, where it hands them over: it has no network of its own.
    request_handler: ServeCall | None = field(default=None, repr=False)


def new_token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


def own_client(plan: ClientPlan) -> "CopilotClient":
    from copilot import CopilotClient, RuntimeConnection

    program, *more = plan.outer or (str(plan.program),)
    path, arguments = supervised(Path(program), plan.note) or (program, ())
    arguments = (*arguments, *more)
    if token := plan.shared_token:
        connection = RuntimeConnection.for_tcp(connection_token=token, path=path, args=arguments)
    else:
        connection = RuntimeConnection.for_stdio(path=path, args=arguments)
    return buffered(CopilotClient)(
        connection=connection,
        working_directory=str(plan.folder or plan.home),
        base_directory=str(plan.home),
        env=plan.environ,
        use_logged_in_user=plan.signed_in_user,
        log_level="error",
        telemetry=plan.spans and plan.spans.for_the_sdk(),
        request_handler=plan.request_handler and refusing_handler(),
    )


def refusing_handler() -> "CopilotRequestHandler":
    """With one the SDK asks for the calls of the runtime, and our wire takes them before it gets
    any. What comes before the wire is there goes nowhere: the SDK's own would make any call that it
    is told to, from this machine."""
    from copilot import CopilotRequestHandler

    class Refusing(CopilotRequestHandler):
        async def send_request(self, request: object, ctx: object) -> NoReturn:
            raise RuntimeUnavailable("This call came too early.")

        async def open_websocket(self, ctx: object) -> NoReturn:
            raise RuntimeUnavailable("Airboss passes on no websocket.")

    return Refusing()


class _Nobody(Exception):
    """Nobody answers there."""


async def connected(outside: OutsideRuntime, *, was_lost: bool) -> "CopilotClient":
    """A client of the runtime of somebody else. One that was lost is waited for a while."""
    loop = asyncio.get_running_loop()
    until = loop.time() + (outside.return_seconds if was_lost else 0)
    while True:
        try:
            return await _connect(outside)
        except _Nobody as error:
            if loop.time() >= until:
                raise RuntimeUnavailable(str(error)) from None
        await asyncio.sleep(_AGAIN_SECONDS)


async def _connect(outside: OutsideRuntime) -> "CopilotClient":
    from copilot import CopilotClient, RuntimeConnection

    client = CopilotClient(
        connection=RuntimeConnection.for_uri(outside.url, connection_token=outside.token or None)
    )
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            await client.start()
    except BaseException as error:
        with contextlib.suppress(Exception):
            await client.force_stop()
        if not isinstance(error, Exception):
            raise
        raise _why_not(outside, error) from error
    return client


def _why_not(outside: OutsideRuntime, error: Exception) -> Exception:
    where, said = outside.url, str(error)
    if isinstance(error.__cause__ or error.__context__ or error, ConnectionError) or (
        said.startswith("Failed to connect")
    ):
        return _Nobody(
            f"No agent runtime answers at {where} (runtime_url). Start it there with "
            "`copilot --headless --port PORT`, or change runtime_url in the settings."
        )
    if _NOT_LET_IN in said:
        how = "refuses the token in" if outside.token else "wants a token: set"
        return RuntimeUnavailable(
            f"The agent runtime at {where} {how} {RUNTIME_TOKEN}. It is the one that the runtime "
            "was started with, in COPILOT_CONNECTION_TOKEN. Then restart the server."
        )
    if _MISMATCH in said:
        return RuntimeUnavailable(f"The agent runtime at {where} {_mismatch(said)}")
    if isinstance(error, TimeoutError):
        return RuntimeUnavailable(
            f"The program at {where} (runtime_url) accepts a connection but says nothing: it "
            "hangs, or it is not an agent runtime."
        )
    return RuntimeUnavailable(
        f"The program at {where} (runtime_url) does not answer as an agent runtime does. Check the "
        "address in the settings."
    )


def _mismatch(said: str) -> str:
    """With both numbers."""
    ours = re.search(r"supports versions ([\d-]+)", said)
    theirs = re.search(r"reports version (\d+)", said)
    wanted = ours[1].split("-")[-1] if ours else "another one"
    speaks = f"speaks protocol {theirs[1]}" if theirs else "does not say which protocol it speaks"
    return (
        f"{speaks}, and Airboss speaks protocol {wanted}. Start the runtime {CLI_VERSION} there: "
        "it is the one that `airboss setup` installs."
    )


def write_shared(client: "CopilotClient", token: str, note: Path, home: Path) -> None:
    """Tells the programs of our own user, and nobody else, how to join in."""
    said = {"url": f"127.0.0.1:{client.runtime_port}", "token": token, "home": str(home)}
    descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(said, file)


def shared_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SHARED_SUFFIX}"))


def forget_shared(folder: Path) -> None:
    """Those of an earlier life: nobody listens there any more."""
    for note in shared_in(folder):
        note.unlink(missing_ok=True)
