"""A process whose environment has no end: 64 GiB of zeros, and none of it takes memory."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

_PROGRAM = """
import ctypes, struct, sys, time
SIZE = 64 << 30
system = ctypes.CDLL(None)
system.mmap.restype = system.sbrk.restype = ctypes.c_void_p
system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
begin = system.mmap(None, SIZE, 3, 0x4022, -1, 0)  # private, of nobody, with nothing set aside
mark = sys.argv[1].encode()
ctypes.memmove(begin, mark, len(mark))
said = open("/proc/self/stat").read().rpartition(")")[2].split()
code, end, stack, data, data_end, heap, words, words_end = (
    int(said[number - 3]) for number in (26, 27, 28, 45, 46, 47, 48, 49)
)
areas = (code, end, data, data_end, heap, system.sbrk(0), stack, words, words_end)
areas = struct.pack("<11QQIi", *areas, begin, begin + SIZE, 0, 0, -1)
print(system.prctl(35, 14, areas, len(areas), 0), flush=True)  # PR_SET_MM, PR_SET_MM_MAP
time.sleep(60)
"""


@contextmanager
def endless_environment(mark: str = "") -> "Generator[subprocess.Popen[bytes]]":
    """Begins with `mark`, a variable with its value."""
    command = [sys.executable, "-c", _PROGRAM, mark]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != b"0\n":
                pytest.skip("This kernel lets no process say where its environment is.")
            yield process
        finally:
            process.kill()
