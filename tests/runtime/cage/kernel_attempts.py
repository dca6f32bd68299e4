"""Rights of the kernel, and other processes."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import re
import resource
import signal
import socket
import struct
from pathlib import Path

from tests.runtime.cage.attempt_table import (
    IS_X86,
    LIBC,
    Scene,
    attempt,
    call,
    reaches_the_kernel,
    sleeping,
)


@attempt("processes")
def the_wire_of_the_first_process(scene: Scene) -> object:
    """What is written there, the server would take for the runtime's."""
    for path in (f"/proc/{pid}/fd/{number}" for pid in (1, scene.victim) for number in (0, 1)):
        with contextlib.suppress(OSError):
            if os.readlink(path).startswith("pipe:"):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                return True
    return False


@attempt("privileges", control="root")
def a_mount(scene: Scene) -> object:
    return call(165, 40, b"none", scene.work.encode(), b"tmpfs", 0, None) == 0 and _umount(scene)


def _umount(scene: Scene) -> bool:
    return call(166, 39, scene.work.encode(), 2) == 0


@attempt("privileges", control="root")
def a_mount_of_the_newer_kind(scene: Scene) -> object:
    return call(430, 430, b"tmpfs", 0) > 0


@attempt("privileges")
def a_namespace_of_users(scene: Scene) -> object:
    return call(272, 97, 0x10000000) == 0


@attempt("privileges", control="root")
def a_namespace_of_mounts(scene: Scene) -> object:
    return call(272, 97, 0x20000) == 0


@attempt("privileges")
def a_child_with_namespaces(scene: Scene) -> object:
    pid = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


@attempt("privileges", control="root")
def the_namespace_of_another_process(scene: Scene) -> object:
    place = os.open(f"/proc/{scene.victim}/ns/net", os.O_RDONLY)
    return call(308, 268, place, 0) == 0


@attempt("privileges", control="root")
def another_root(scene: Scene) -> object:
    os.chroot(scene.work)
    return True


@attempt("privileges", control="root")
def a_pivot_of_the_root(scene: Scene) -> object:
    return reaches_the_kernel(155, 41, b"/", b"/")


@attempt("privileges")
def a_debugger_on_ones_own_child(scene: Scene) -> object:
    child = sleeping()
    try:
        call(101, 117, 0x4206, child, 0, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return True


@attempt("privileges")
def the_memory_of_ones_own_child(scene: Scene) -> object:
    kept = ctypes.create_string_buffer(b"kept")
    child, into = sleeping(), ctypes.create_string_buffer(4)
    try:
        local = struct.pack("QQ", ctypes.addressof(into), 4)
        remote = struct.pack("QQ", ctypes.addressof(kept), 4)
        return call(310, 270, child, local, 1, remote, 1, 0) == 4
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@attempt("privileges")
def a_file_out_of_ones_own_child(scene: Scene) -> object:
    child = sleeping()
    try:
        return call(438, 438, os.pidfd_open(child), 0, 0) > 0
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@attempt("privileges")
def a_key_of_the_kernels_ring(scene: Scene) -> object:
    return call(248, 217, b"user", b"airboss-canary", b"x", 1, -1) > 0


@attempt("privileges")
def the_keys_of_the_session(scene: Scene) -> object:
    return call(250, 219, 0, -3, 0, 0, 0) > 0


@attempt("privileges", control="root")
def a_program_in_the_kernel(scene: Scene) -> object:
    return reaches_the_kernel(321, 280, 0, struct.pack("IIII", 99, 4, 4, 1) + bytes(100), 72)


@attempt("privileges", control="root")
def a_look_at_the_processor(scene: Scene) -> object:
    return reaches_the_kernel(298, 241, struct.pack("II", 1, 112) + bytes(104), -1, 0, -1, 0)


@attempt("privileges")
def the_ring_of_calls(scene: Scene) -> object:
    return call(425, 425, 4, ctypes.create_string_buffer(120)) > 0


@attempt("privileges")
def a_queue_for_the_disk(scene: Scene) -> object:
    """All on this machine together may have a number of them."""
    return call(206, 0, 1, ctypes.byref(ctypes.c_ulong())) == 0


@attempt("privileges")
def the_faults_of_memory(scene: Scene) -> object:
    return call(323, 282, 1) > 0


@attempt("privileges", control="not every kernel has modules")
def a_module(scene: Scene) -> object:
    return reaches_the_kernel(313, 273, -1, b"", 0)


@attempt("privileges", control="root")
def the_power_switch(scene: Scene) -> object:
    """With a wrong word, so that nothing happens where it is let through."""
    return reaches_the_kernel(169, 142, 1, 1, 0, 0)


@attempt("privileges", control="root")
def the_name_of_this_machine(scene: Scene) -> object:
    name = socket.gethostname().encode()
    return call(170, 161, name, len(name)) == 0


@attempt("privileges", control="root")
def the_handle_of_a_file(scene: Scene) -> object:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    return call(303, 264, -100, scene.work.encode(), handle, ctypes.byref(ctypes.c_int()), 0) == 0


@attempt("privileges", control="anyone" if IS_X86 else "only x86-64 has it")
def a_call_of_32_bits(scene: Scene) -> object:
    """`getpid` by the old gate: its numbers are others than those of the filter."""
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0


@attempt("privileges", control="no kernel of today is built with it")
def a_call_of_the_x32_table(scene: Scene) -> object:
    return IS_X86 and call(0x40000000 + 39, 0) > 0


@attempt("privileges", control="root")
def an_environment_of_any_size(scene: Scene) -> object:
    """What others read of a process. It is only asked how large the request would be."""
    return reaches_the_kernel(157, 167, 35, 15, ctypes.create_string_buffer(8), 0, 0)


@attempt("privileges")
def more_rights_by_a_program(scene: Scene) -> object:
    """Whether a program with the set-user-id bit would have them."""
    return LIBC.prctl(39, 0, 0, 0, 0) == 0


@attempt("privileges", control="root")
def a_capability(scene: Scene) -> object:
    said = Path("/proc/self/status").read_text("utf-8")
    return any(int(bits, 16) for bits in re.findall(r"Cap(?:Eff|Prm):\s+(\w+)", said))


@attempt("privileges", control="root")
def a_rank_above_others(scene: Scene) -> object:
    """More of the processor than others get."""
    os.nice(-1)
    return True


@attempt("privileges")
def a_copy_of_all_that_a_disk_has(scene: Scene) -> object:
    """A snapshot of btrfs: another disk says that it has no such thing."""
    place = os.open(scene.work, os.O_RDONLY)
    return all(
        reaches_the_kernel(16, 29, place, request, bytes(4096))
        for request in (0x50009401, 0x50009417)
    )


@attempt("privileges", control="root")
def words_typed_into_a_terminal(scene: Scene) -> object:
    _, terminal = os.openpty()
    call(16, 29, terminal, 0x5412, b"x")
    return True


@attempt("processes", narrow="others are seen")
def the_list_of_processes(scene: Scene) -> object:
    return b"a-canary-that-sleeps" in Path(f"/proc/{scene.victim}/cmdline").read_bytes()


@attempt("processes")
def a_signal_to_another(scene: Scene) -> object:
    os.kill(scene.victim, signal.SIGCONT)
    return True


@attempt("processes")
def a_debugger_on_another(scene: Scene) -> object:
    call(101, 117, 0x4206, scene.victim, 0, 0)
    return True


@attempt("processes")
def the_rank_of_another(scene: Scene) -> object:
    os.setpriority(os.PRIO_PROCESS, scene.victim, os.getpriority(os.PRIO_PROCESS, scene.victim))
    return True


@attempt("processes")
def the_rank_of_all_that_ones_user_has(scene: Scene) -> object:
    """That at the disk, with a class that does not exist, so that nothing happens. A cage with
    processes of its own has no others."""
    others = Path(f"/proc/{scene.victim}").exists()
    return others and reaches_the_kernel(251, 30, 3, 0, 7 << 13)


@attempt("processes")
def the_rank_of_all_in_ones_group(scene: Scene) -> object:
    """A process may join each group of its session."""
    others = Path(f"/proc/{scene.victim}").exists()
    return others and reaches_the_kernel(251, 30, 2, 0, 7 << 13)


@attempt("processes")
def the_limits_of_another(scene: Scene) -> object:
    return bool(resource.prlimit(scene.victim, resource.RLIMIT_CORE, (0, 0)))


@attempt("processes")
def a_queue_of_the_system(scene: Scene) -> object:
    """By its number, which others may know."""
    return call(69, 189, scene.queue, struct.pack("q8s", 1, b"canary"), 6, 0o4000) == 0
