"""A commit of which nobody knows yet whether it is written: whoever asked may act once it is."""

import asyncio
from collections.abc import Callable

from airboss.errors import StoreAway, StoreUnavailable


class InDoubt(StoreAway):
    """It may have been written all the same. `fate` says whether, when the database is back."""

    def __init__(self, said: str, fate: "asyncio.Future[bool]") -> None:
        super().__init__(said, in_doubt=True)
        self.fate = fate


def once_known(refused: StoreUnavailable, act: Callable[[bool], None]) -> None:
    """`act` is told whether what was refused is written all the same: at once where it surely is
    not, else when somebody knows. A server that ends before that leaves it to the next one."""
    if isinstance(refused, InDoubt):
        refused.fate.add_done_callback(lambda fate: act(fate.result()))
    else:
        act(False)
