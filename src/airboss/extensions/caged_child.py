"""The process of an extension in the cage of its session: behind its walls, and gone with it."""

import asyncio
import contextlib
import signal
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.extensions.child import Child, Launch
from airboss.runtime.cage.programs import CageProgram, CagePrograms
from airboss.runtime.sweep import EXTENSION, sweep_extensions

_PIECE: Final = 1 << 16
_STDOUT: Final = 1


@dataclass
class CagedChild(Child):
    """As `Child`, started by `programs`."""

    programs: CagePrograms | None = None
    _program: CageProgram | None = None
    _hearing: Background = field(default_factory=lambda: Background("caged extension"))

    async def start(self, launch: Launch) -> None:
        """Raises `ProgramNotStarted` where the cage does not run it."""
        if self.programs is None:
            raise OSError("There is no cage.")
        env = {**launch.environ, EXTENSION: self.mark}
        program = await self.programs.start(launch.command, env=env, cwd=launch.cwd)
        self._program, self._stdin = program, program.stdin.transport
        self._hearing.start(self._hear_output(program.stdout), "output")
        self._hearing.start(self._hear_errors(program.stderr), "errors")
        self._hearing.start(self._see_end(program), "end")

    async def _hear_output(self, pipe: asyncio.StreamReader) -> None:
        while piece := await pipe.read(_PIECE):
            if seconds := self.take_output(piece):
                await asyncio.sleep(seconds)
        self.pipe_connection_lost(_STDOUT, None)

    async def _hear_errors(self, pipe: asyncio.StreamReader) -> None:
        while piece := await pipe.read(_PIECE):
            self.keep(piece)

    async def _see_end(self, program: CageProgram) -> None:
        await program.wait()
        self.process_exited()

    @property
    def returncode(self) -> int | None:
        return self._program.returncode if self._program else None

    def kill(self) -> None:
        if self._program is not None:
            self._program.kill()

    def terminate(self) -> None:
        if self._program is not None:
            self._program.send_signal(signal.SIGTERM)

    @property
    def is_started(self) -> bool:
        return self._program is not None

    async def clear(self) -> None:
        """What left its group ends with the cage at the latest, and here where it can be seen."""
        self.kill()
        await sweep_extensions(self.mark)
        await self.is_gone_within(1.0)
        if self._stdin is not None:
            with contextlib.suppress(OSError):
                self._stdin.close()
        await self._hearing.close(cancel=True, seconds=1)
