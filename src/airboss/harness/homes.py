"""Where the runtimes of each identity keep their files, and which process a session goes to."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.errors import Invalid
from airboss.harness.accounts import Grant
from airboss.keys import NAME_RULE
from airboss.model.setup import CageSetup
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.pool_key import PoolKey
from airboss.session_keys import DEFAULT_IDENTITY
from airboss.store.folder import DataFolder

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def home_of(folder: DataFolder, identity: str) -> Path:
    """Absolute. Two identities never share one; a name that could lead elsewhere is refused."""
    if not _NAME.fullmatch(identity):
        raise Invalid(f"identity: {NAME_RULE}")
    if identity == DEFAULT_IDENTITY:
        return folder.copilot_home.absolute()
    return folder.home_of(identity).absolute()


@dataclass(frozen=True)
class Homes:
    """`nobody_signed_in` says whether it is known that the CLI has no user."""

    folder: DataFolder
    nobody_signed_in: Callable[[], bool] = lambda: False
    # The address of a runtime that somebody else started: it has one home, and who is signed in
    # there is theirs to say.
    outside: str | None = None

    def home(self, identity: str, cage: CageSetup | None = None) -> str:
        """What tells the history of one home from that of another. In a cage there is another."""
        if cage is not None:
            return f"cage {cage.profile}"
        if self.outside is not None:
            return f"runtime at {self.outside}"
        return str(home_of(self.folder, identity))

    def key(self, identity: str, grant: Grant | None, cage: CagePlan | None = None) -> PoolKey:
        """Of the process for this identity and this account; without one, for providers. In a cage
        there is neither: what lets one in is put in outside."""
        if cage is not None:
            return PoolKey(identity, home_of(self.folder, identity), "byok", cage=cage)
        if self.outside is not None:
            self.must_be_one(identity)
            return PoolKey(identity, home_of(self.folder, identity), "cli")
        home = home_of(self.folder, identity)
        if grant is not None:
            mode = "cli" if grant.is_cli else "token"
            return PoolKey(identity, home, mode, grant.profile, grant.version)
        # Where nobody is signed in there, one process is as good as the other.
        return PoolKey(identity, home, "cli" if self.nobody_signed_in() else "byok")

    def state(self, identity: str, cage: CagePlan | None) -> Path:
        """The folder with the runtime's sessions."""
        if cage is not None:
            return self.folders(cage).state
        return home_of(self.folder, identity)

    def folders(self, cage: CagePlan) -> CageFolders:
        return CageFolders.of(self.folder.path, cage.key)

    def must_be_one(self, identity: str) -> None:
        if self.outside is not None and identity != DEFAULT_IDENTITY:
            raise Invalid(
                f'identity: "{identity}" cannot be used here. This server uses the runtime at '
                f"{self.outside} (runtime_url), which has one home. Leave out identity."
            )
