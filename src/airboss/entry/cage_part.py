"""The cage that an entry or a task names: a profile of the settings, or what is to be otherwise."""

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, StrictBool, StrictInt, StrictStr, Tag

from airboss.cage_settings import UnknownHosts
from airboss.entry.part import OBJECT, TEXT, Part, text_or_object
from airboss.model.numbers import whole

Amount: TypeAlias = Annotated[StrictInt, Field(ge=0), whole]


class Cage(Part):
    """A profile of cages by its name, and what takes the place of its own."""

    profile: StrictStr | None = None
    read: tuple[StrictStr, ...] | None = None
    write: tuple[StrictStr, ...] | None = None
    hosts: tuple[StrictStr, ...] | None = None
    unknown_hosts: UnknownHosts | None = None
    variables: tuple[StrictStr, ...] | None = None
    memory_mb: Amount | None = None
    processes: Amount | None = None
    file_mb: Amount | None = None
    debuggers: StrictBool | None = None


CageOrName: TypeAlias = Annotated[
    Annotated[StrictStr, Tag(TEXT)] | Annotated[Cage, Tag(OBJECT)],
    Discriminator(text_or_object),
]
