"""The filter, run here as the kernel would run it."""

import struct

import pytest

from airboss.runtime.cage.inside import seccomp, syscalls

ALLOWED, PERMISSION, UNKNOWN, FAMILY = seccomp.ALLOW, 0x50001, 0x50026, 0x50061
NOT_SUPPORTED = 0x5005F


def answer(program: bytes, machine: str, number: int, *arguments: int, audit: int = 0) -> int:
    """What the program says about one call."""
    given = [*arguments, *[0] * (6 - len(arguments))]
    architecture = audit or syscalls.ARCHITECTURES[machine]
    data = struct.pack("IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *given)
    at = value = 0
    while True:
        code, yes, no, operand = struct.unpack_from("HBBI", program, at * 8)
        at += 1
        match code:
            case 0x20:
                value = struct.unpack_from("I", data, operand)[0]
            case 0x54:
                value &= operand
            case 0x06:
                return operand
            case _:
                holds = {
                    0x15: value == operand,
                    0x35: value >= operand,
                    0x45: bool(value & operand),
                }[code]
                at += yes if holds else no


def filtered(machine: str, *, network: bool = True, debuggers: bool = False) -> bytes:
    return seccomp.program(machine, network=network, debuggers=debuggers)


MACHINES = sorted(syscalls.CALLS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_each_call_of_the_table_is_refused(machine: str, network: bool) -> None:
    program = filtered(machine, network=network)
    for name, number in syscalls.refused(machine, debuggers=False).items():
        expected = UNKNOWN if name in syscalls.UNKNOWN else PERMISSION
        assert answer(program, machine, number) == expected, name


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_no_other_call_is_touched(machine: str, network: bool) -> None:
    program = filtered(machine, network=network)
    known = set(syscalls.CALLS[machine].values())
    if not network:
        known |= set(syscalls.SHARED[machine].values())
        known |= set(syscalls.ATTRIBUTES[machine].values())
    for number in set(range(470)) - known:
        assert answer(program, machine, number) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    i386 = 0x40000003
    assert answer(filtered(machine), machine, 20, audit=i386) == seccomp.KILL


def test_the_second_table_of_numbers_of_x86_64_is_not_there() -> None:
    assert answer(filtered("x86_64"), "x86_64", 0x40000000 + 101) == UNKNOWN


@pytest.mark.parametrize("machine", MACHINES)
def test_debuggers_are_let_in_by_the_profile(machine: str) -> None:
    number = syscalls.CALLS[machine]["ptrace"]
    assert answer(filtered(machine), machine, number) == PERMISSION
    assert answer(filtered(machine, debuggers=True), machine, number) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("shift", [17, 25, 26, 27, 28, 29, 30])
def test_no_child_has_namespaces_of_its_own(machine: str, shift: int) -> None:
    clone = syscalls.CALLS[machine]["clone"]
    assert answer(filtered(machine), machine, clone, 17 | 1 << shift) == PERMISSION
    assert answer(filtered(machine), machine, clone, 0x01200011) == ALLOWED  # fork


@pytest.mark.parametrize("machine", MACHINES)
def test_only_ordinary_sockets_are_there(machine: str) -> None:
    number = syscalls.CALLS[machine]["socket"]
    strong, narrow = filtered(machine), filtered(machine, network=False)
    for family in range(50):
        is_ordinary = family in {1, 2, 10, 16}
        assert answer(strong, machine, number, family, 1) == (ALLOWED if is_ordinary else FAMILY)
        assert answer(narrow, machine, number, family, 1) == (ALLOWED if family == 1 else FAMILY)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_a_pair_of_sockets_is_of_no_other_family(machine: str, network: bool) -> None:
    program, number = filtered(machine, network=network), syscalls.CALLS[machine]["socketpair"]
    for family in range(50):
        expected = ALLOWED if family == 1 else FAMILY
        assert answer(program, machine, number, family, 1) == expected
        assert answer(program, machine, number, family | 0xFFFFFFFF << 32, 1) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_without_network_nobody_elses_socket_is_reached(machine: str) -> None:
    calls, program = syscalls.CALLS[machine], filtered(machine, network=False)
    assert answer(program, machine, calls["connect"], 3) == PERMISSION
    connected, closed_on_exec, never_waiting = {1, 5}, 0o2000000, 0o4000
    for name in ("socket", "socketpair"):
        for kind in range(16):
            expected = ALLOWED if kind in connected else PERMISSION
            for flags in (0, closed_on_exec, never_waiting, closed_on_exec | never_waiting):
                assert answer(program, machine, calls[name], 1, kind | flags) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_nobody_types_into_a_terminal(machine: str) -> None:
    number = syscalls.CALLS[machine]["ioctl"]
    for request, expected in ((0x5412, PERMISSION), (0x541C, PERMISSION), (0x5413, ALLOWED)):
        assert answer(filtered(machine), machine, number, 0, request) == expected
        high = request | 0xFFFFFFFF << 32
        assert answer(filtered(machine), machine, number, 0, high) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_nobody_who_opens_a_file_waits_for_a_lease(machine: str, network: bool) -> None:
    program, number = filtered(machine, network=network), syscalls.CALLS[machine]["fcntl"]
    of_files, of_folders = 1024, 1040
    for request in range(2048):
        expected = PERMISSION if request in {of_files, of_folders} else ALLOWED
        assert answer(program, machine, number, 3, request) == expected
        assert answer(program, machine, number, 3, request | 0xFFFFFFFF << 32) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_nobody_moves_the_words_of_a_process(machine: str, network: bool) -> None:
    program, number = filtered(machine, network=network), syscalls.CALLS[machine]["prctl"]
    for option in range(100):
        expected = PERMISSION if option == 35 else ALLOWED
        assert answer(program, machine, number, option) == expected
        assert answer(program, machine, number, option | 0xFFFFFFFF << 32) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_what_others_have_is_not_there(machine: str) -> None:
    strong, narrow = filtered(machine), filtered(machine, network=False)
    for number in syscalls.SHARED[machine].values():
        assert answer(strong, machine, number) == ALLOWED
        assert answer(narrow, machine, number) == UNKNOWN


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_no_file_has_attributes(machine: str) -> None:
    strong, narrow = filtered(machine), filtered(machine, network=False)
    for number in syscalls.ATTRIBUTES[machine].values():
        assert answer(strong, machine, number) == ALLOWED
        assert answer(narrow, machine, number) == NOT_SUPPORTED


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_no_other_process_is_named(machine: str) -> None:
    narrow = filtered(machine, network=False)
    of_a_process = {"setpriority": 0, "ioprio_set": 1}
    for name, (number, _) in syscalls.NAMING[machine].items():
        kind = [of_a_process[name]] if name in of_a_process else []
        for ourselves in (0, 0xFFFFFFFF << 32):
            assert answer(narrow, machine, number, *kind, ourselves, 7) == ALLOWED
        for another in (1, 4711, 0xFFFFFFFF):
            assert answer(narrow, machine, number, *kind, another, 7) == PERMISSION


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "of_a_process", "of_others"), [("setpriority", 0, (1, 2)), ("ioprio_set", 1, (2, 3))]
)
def test_without_namespaces_no_group_or_user_is_named(
    machine: str, name: str, of_a_process: int, of_others: tuple[int, int]
) -> None:
    """0 is there oneself, and all of one's own group, or all that one's user has anywhere."""
    strong, narrow = filtered(machine), filtered(machine, network=False)
    number, _ = syscalls.NAMING[machine][name]
    assert answer(narrow, machine, number, of_a_process, 0, 7) == ALLOWED
    for kind in of_others:
        assert answer(strong, machine, number, kind, 0, 7) == ALLOWED
        assert answer(narrow, machine, number, kind, 0, 7) == PERMISSION


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_no_file_becomes_a_program_with_the_rights_of_its_owner(
    machine: str, network: bool
) -> None:
    program = filtered(machine, network=network)
    create, tmpfile = 0o100, 0o20200000
    for name, (number, mode, flags) in syscalls.MODES[machine].items():
        for made, bits, expected in (
            (create, 0o4755, PERMISSION),
            (tmpfile, 0o6755, PERMISSION),
            (create, 0o2755, ALLOWED),
            (create, 0o755, ALLOWED),
            (0, 0o4755, ALLOWED if flags is not None else PERMISSION),
        ):
            given = [0] * 6
            given[mode] = bits
            if flags is not None:
                given[flags] = made
            assert answer(program, machine, number, *given) == expected, (name, oct(bits))
