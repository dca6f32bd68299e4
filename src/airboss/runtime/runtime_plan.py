"""How a runtime is started, as far as the server decides it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.connection import OutsideRuntime
from airboss.runtime.handed_calls import ServeCall
from airboss.runtime.span_target import SpanTarget
from airboss.store.folder import DataFolder
from airboss.store.places import Places

if TYPE_CHECKING:
    from airboss.runtime.cage.launch import CageNews


@dataclass(frozen=True)
class RuntimePlan:
    """How a runtime is started: where it keeps its files, whose it is, and what it may not see."""

    home: Path
    owner: str
    path: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    secrets: tuple[str, ...] = ()
    secret_names: tuple[str, ...] = ()
    signed_in_user: bool = False
    # Where it sends its own spans: an address on this machine.
    spans: SpanTarget | None = None
    # Where all else lies; without it beside the home.
    data: Path | None = None
    # Somebody else's, which is used in the place of one that we start.
    outside: OutsideRuntime | None = None
    # Whether other programs may use it too.
    is_shared: bool = False
    # Whether it runs behind walls, and which; who answers behind their doors; who hears of them.
    cage: CagePlan | None = None
    doors: Callable[[CagePlan], CageDoors] = lambda _: CageDoors()
    hear_cage: Callable[["CageNews"], None] = lambda _: None
    # Told what must never be shown.
    learn: Callable[[str], None] = lambda _: None
    # Makes its calls to models in its place.
    request_handler: ServeCall | None = None

    @property
    def folder(self) -> Path:
        """The data folder."""
        return self.home.parent if self.data is None else self.data

    @property
    def notes(self) -> Path:
        """Where it is written down which processes run, in the data folder."""
        return DataFolder(self.folder).runtime_notes

    @property
    def launchers(self) -> Path:
        """Where the copy of the runtime's program lies that agents cannot read."""
        return self.folder / "launcher"

    @property
    def places(self) -> Places:
        return Places(self.folder)
