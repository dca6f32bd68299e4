"""Says that a worker is lost: what its guard runs when the worker has crashed.

It imports as little as it can: all that the worker had waits for it.
"""

import os
import sys
from typing import Final

from airboss.errors import StoreUnavailable
from airboss.store.postgres_workers import WorkerLine

DATABASE: Final = "AIRBOSS_DATABASE"
_SECONDS: Final = 5.0


def main() -> int:
    worker = sys.argv[1]
    line = WorkerLine(os.environ[DATABASE], worker)
    try:
        line.mark_lost(worker, None, _SECONDS)
    except StoreUnavailable:
        return 1  # the guard tries again
    finally:
        line.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
