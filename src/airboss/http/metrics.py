"""What watches the server from outside: whether it lives, whether it is ready, its counts."""

import asyncio
from importlib import import_module

from fastapi import Response

from airboss.errors import StoreUnavailable
from airboss.http.roles import Router
from airboss.http.services import Use

router = Router(include_in_schema=False)


@router.get("/metrics")
async def metrics(use: Use) -> Response:
    await asyncio.to_thread(import_module, "airboss.http.counts")
    from airboss.http.counts import exposition

    try:
        workers = await use.workers.all()
    except StoreUnavailable:
        workers = None  # who watches is told by the rest
    return Response(exposition(use, workers), media_type="text/plain; version=0.0.4")


@router.get("/healthz")
async def is_alive() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def is_ready(use: Use) -> Response:
    """Ready means: what is asked for can be kept."""
    trouble = await use.log.look_again()
    if trouble:
        raise trouble
    return Response('{"status":"ready"}', media_type="application/json")
