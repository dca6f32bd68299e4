"""The machines of this server's database, over v1: who works, on what, and who is not heard."""

from pydantic import BaseModel

from airboss.errors import Conflict
from airboss.http.roles import Router
from airboss.http.services import Services, Use
from airboss.service.run_moves import ALONE
from airboss.service.workers import WorkerList

router = Router(prefix="/api/v1/workers", tags=["workers"])


@router.get("")
async def list_workers(use: Use) -> WorkerList:
    """List every worker of the database that this server uses, with its state, its beat as this
    server sees it, its slots and its runs; those that live first. A server with a data folder of
    its own is the only one, `here`. The feed names `machines` when one comes, goes or is not
    heard."""
    return await use.workers.all()


class DrainedWorker(BaseModel):
    """A machine, and whether it takes something new: `alive`, or `draining`."""

    id: str
    name: str
    state: str


@router.post("/{worker}/drain")
async def drain_worker(worker: str, use: Use) -> DrainedWorker:
    """Let a machine take nothing new, by its name or id. Tasks that are at work end there; then
    others go on with their runs. Its chats and pages stay."""
    return await _drained(use, worker)


@router.delete("/{worker}/drain")
async def stop_draining_worker(worker: str, use: Use) -> DrainedWorker:
    """Let a machine take work again, by its name or id."""
    return await _drained(use, worker, undo=True)


async def _drained(use: Services, worker: str, *, undo: bool = False) -> DrainedWorker:
    if use.moves is None:
        raise Conflict(ALONE)
    found = await use.moves.drain(worker, undo=undo)
    return DrainedWorker(id=found.id, name=found.name, state=found.state)
