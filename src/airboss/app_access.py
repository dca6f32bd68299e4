"""Who may come in: by files of the data folder, or by a database that several servers share."""

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Final

from airboss.background import Background
from airboss.errors import StoreAway, StoreUnavailable
from airboss.log.log import EventLog
from airboss.service.exposure import is_loopback
from airboss.service.sign_ins import SignIns
from airboss.settings import Settings
from airboss.store.database import Database
from airboss.store.folder import DataFolder
from airboss.store.notices import ACCESS
from airboss.store.shared_access import AccessStore
from airboss.store.token_changes import ChangesToTell, TokenChanges

if TYPE_CHECKING:
    from airboss.app_machines import Machines

_AGAIN_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


def token_changes(
    settings: Settings, folder: DataFolder, machines: "Machines | None"
) -> ChangesToTell:
    """What was done to the tokens without a server."""
    if settings.database is None or machines is None:
        return TokenChanges(folder)
    from airboss.store.postgres_tokens import SharedTokenChanges

    return SharedTokenChanges(settings.database, machines.member.worker.id)


def has_shared_tokens(settings: Settings) -> bool:
    """Whether somebody decided who gets in at all servers of a database. Asked for those that can
    be reached from elsewhere, which wait for a database that is away, as all do at their start."""
    if settings.database is None or is_loopback(settings.host):
        return False
    from airboss.store.postgres_tokens import SharedTokens

    book = SharedTokens(DataFolder(settings.data), settings.database)
    while True:
        try:
            return book.is_any
        except StoreAway as away:
            _log.warning("Waiting for the database. %s", away)
            time.sleep(_AGAIN_SECONDS)


async def load_access(
    stack: contextlib.AsyncExitStack,
    log: EventLog,
    database: Database | None,
    folder: DataFolder,
    sign_ins: SignIns,
    *,
    lets_in: bool,
) -> None:
    """Who may come in. On a database that several servers share they let in the same."""
    if database is not None:
        store = AccessStore(database, folder.owner_id())
        await sign_ins.access.share(store, lets_in=lets_in)
        sign_ins.announce = lambda: log.announce(ACCESS)
    await sign_ins.load()
    if database is not None and lets_in:
        work = Background("access")
        stack.push_async_callback(work.close, cancel=True)
        work.start(_follow_access(log, sign_ins), "access")


async def _follow_access(log: EventLog, sign_ins: SignIns) -> None:
    with log.changes(ACCESS) as heard:
        while not heard.is_over:
            await heard.within()
            with contextlib.suppress(StoreUnavailable):  # it is looked again when it is back
                await sign_ins.access.look()
                await sign_ins.look()
