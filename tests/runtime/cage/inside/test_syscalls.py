"""The numbers, compared with those that the kernel's own headers say, where they are installed."""

import re
from pathlib import Path

import pytest

from airboss.runtime.cage.inside import syscalls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", sorted(HEADERS))
def test_the_numbers_are_the_kernels(machine: str) -> None:
    try:
        text = HEADERS[machine].read_text("utf-8")
    except OSError:
        pytest.skip("the kernel's headers are not installed")
    said = {
        name: int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)
    }
    naming = {name: number for name, (number, _) in syscalls.NAMING[machine].items()}
    modes = {name: number for name, (number, _, _) in syscalls.MODES[machine].items()}
    attributes = syscalls.ATTRIBUTES[machine]
    table = syscalls.CALLS[machine] | syscalls.SHARED[machine] | attributes | naming | modes
    common = table.keys() & said.keys()
    assert len(common) > len(table) * 0.9
    assert {name: table[name] for name in common} == {name: said[name] for name in common}


def test_both_tables_refuse_the_same_but_for_what_one_of_them_never_had() -> None:
    first, second = (set(syscalls.refused(name, debuggers=False)) for name in syscalls.CALLS)
    only_on_x86 = {"iopl", "ioperm", "modify_ldt", "uselib", "_sysctl", "create_module"}
    only_on_x86 |= {"get_kernel_syms", "query_module"}
    assert first - second == only_on_x86
    assert second - first == set()
