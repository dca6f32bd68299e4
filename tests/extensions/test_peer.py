"""Questions of an extension's process, and how they are answered."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airboss.background import Background
from airboss.extensions.child import Child, Launch
from airboss.extensions.peer import Peer
from tests.extensions.hosted import until

ASKS = """
import sys
said = b'{"jsonrpc":"2.0","id":1,"method":"anything"}'
sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(said), said))
sys.stdout.flush()
length = int(sys.stdin.readline().split(":")[1])
sys.stdin.readline()
sys.stderr.write(sys.stdin.read(length))
"""


async def test_what_fails_in_airboss_itself_is_answered_too(tmp_path: Path) -> None:
    async def fail(method: str, params: Mapping[str, Any]) -> object:
        raise ValueError(f"no {method}")

    beside = Background("test")
    child = Child(lambda message: peer.hear(message), lambda reason: None)
    peer = Peer("ses_test", child, fail, beside)
    await child.start(Launch((sys.executable, "-c", ASKS), {}, tmp_path))
    try:
        await until(lambda: "Airboss failed at this request." in child.log)
    finally:
        await child.stop()
        await beside.close(cancel=True, seconds=1)
