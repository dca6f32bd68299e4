"""A process that has a caged runtime, to be killed: `python -m … FOLDER`. Says the runtime's id."""

import asyncio
import sys
from pathlib import Path

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.runtime_plan import RuntimePlan


async def keep(folder: Path) -> None:
    work = folder / "work"
    work.mkdir()
    cage = CagePlan("strong", "default", CageProfile(), work, "k")
    key = PoolKey("default", folder / "data/home", "byok", cage=cage)
    plan = RuntimePlan(home=folder / "data/home", owner=f"test-{folder.name}", data=folder / "data")
    async with Pool(plan, key).use(key) as runtime:
        sys.stdout.write(f"{(await runtime.status()).pid}\n")
        sys.stdout.flush()
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(keep(Path(sys.argv[1])))
