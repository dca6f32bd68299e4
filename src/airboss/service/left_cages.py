"""Deletes the cages whose session or task run is not there any more."""

import asyncio
import logging
from pathlib import Path

from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.store.cage_places import CagePlaces

_log = logging.getLogger(__name__)


async def remove_left_cages(log: EventLog, data: Path) -> int:
    """At the start, before any is opened; how many there were."""
    places = CagePlaces(data)
    left = [*await asyncio.to_thread(places.left_over)]
    for key, owner in (await asyncio.to_thread(places.owners)).items():
        if await log.view(owner) is None:
            left.append(key)
    for key in left:
        try:
            await asyncio.to_thread(places.remove, key)
        except StoreUnavailable as error:  # the next server tries again
            _log.warning("%s", error)
    return len(left)
