"""Files outside, read and written."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import struct
from pathlib import Path

from tests.runtime.cage.attempt_table import Scene, attempt, call, first_disk, pids


@attempt("reading")
def a_key_in_the_home(scene: Scene) -> object:
    return scene.word in scene.key.read_text("utf-8")


@attempt("reading")
def the_list_of_the_home(scene: Scene) -> object:
    return ".ssh" in os.listdir(scene.home)


@attempt("reading")
def the_database(scene: Scene) -> object:
    return scene.word in Path(scene.data, "airboss.db").read_text("utf-8")


@attempt("reading")
def the_state_of_another_cage(scene: Scene) -> object:
    return scene.word in Path(scene.data, "cages", "other", "state", "s").read_text("utf-8")


@attempt("reading")
def the_list_of_all_cages(scene: Scene) -> object:
    return "other" in os.listdir(Path(scene.data, "cages"))


@attempt("reading")
def another_project(scene: Scene) -> object:
    return scene.word in Path(scene.outside, "canary").read_text("utf-8")


@attempt("reading")
def a_link_that_lies_in_the_folder(scene: Scene) -> object:
    return scene.word in Path(scene.work, "link").read_text("utf-8")


@attempt("reading")
def a_link_made_by_oneself(scene: Scene) -> object:
    link = Path(scene.work, f"own-{os.getpid()}")
    link.symlink_to(scene.key)
    try:
        return scene.word in link.read_text("utf-8")
    finally:
        link.unlink()


@attempt("reading")
def a_path_upwards(scene: Scene) -> object:
    os.chdir(scene.work)
    return scene.word in Path("..", Path(scene.home).name, ".ssh", "id").read_text("utf-8")


@attempt("reading")
def a_hard_link_to_it(scene: Scene) -> object:
    link = Path(scene.work, f"hard-{os.getpid()}")
    os.link(scene.key, link)
    try:
        return scene.word in link.read_text("utf-8")
    finally:
        link.unlink()


@attempt("reading")
def the_root_of_the_first_process(scene: Scene) -> object:
    """Or of any other: the control finds its own."""
    for pid in pids():
        with contextlib.suppress(OSError):
            if scene.word in Path(f"/proc/{pid}/root{scene.key}").read_text("utf-8"):
                return True
    return False


@attempt("reading")
def the_folder_of_another_process(scene: Scene) -> object:
    return scene.word in Path(f"/proc/{scene.victim}/cwd/.ssh/id").read_text("utf-8")


@attempt("reading")
def an_open_file_of_another_process(scene: Scene) -> object:
    for pid in pids():
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    path = f"/proc/{pid}/fd/{number}"
                    if os.readlink(path) == str(scene.key):
                        return scene.word in Path(path).read_text("utf-8")
    return False


@attempt("reading")
def the_environment_of_another_process(scene: Scene) -> object:
    for pid in pids():
        with contextlib.suppress(OSError):
            said = Path(f"/proc/{pid}/environ").read_bytes()
            if f"CANARY={scene.word}".encode() in said:
                return True
    return False


@attempt("reading")
def ones_own_environment(scene: Scene) -> object:
    return scene.word in " ".join(os.environ.values())


@attempt("reading", narrow="command lines of others are seen")
def the_command_line_of_another_process(scene: Scene) -> object:
    for pid in pids():
        with contextlib.suppress(OSError):
            if b"a-canary-that-sleeps" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid != os.getpid()
    return False


@attempt("reading")
def the_memory_of_another_process(scene: Scene) -> object:
    maps = Path(f"/proc/{scene.victim}/maps").read_text("utf-8")
    found = re.search(r"([0-9a-f]+)-[0-9a-f]+ rw.*\[stack\]", maps)
    with open(f"/proc/{scene.victim}/mem", "rb", buffering=0) as memory:
        memory.seek(int(found[1], 16) if found else 0)
        return memory.read(16) != b""


@attempt("reading", control="root")
def the_passwords_of_the_system(scene: Scene) -> object:
    return "root:" in Path("/etc/shadow").read_text("utf-8")


@attempt("reading")
def the_name_of_the_machine(scene: Scene) -> object:
    return Path("/etc/hostname").read_text("utf-8").strip()


@attempt("reading", narrow="the name of the machine is seen")
def the_name_that_the_kernel_has_for_the_machine(scene: Scene) -> object:
    return os.uname().nodename == scene.machine


@attempt("reading", control="a machine may have one group only", narrow="one's own group is seen")
def ones_place_among_the_control_groups(scene: Scene) -> object:
    """It says by which server the cage is held, and what else there is."""
    groups = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    return [line for line in groups if line.split(":", 2)[2] != "/"]


@attempt("reading")
def a_temporary_file_of_somebody_else(scene: Scene) -> object:
    return scene.word in Path(scene.temporary).read_text("utf-8")


@attempt("reading")
def what_the_kernel_tells_of_the_hardware(scene: Scene) -> object:
    return os.listdir("/sys/class")


@attempt("reading", control="not every root may make devices")
def a_disk_by_a_device_of_ones_own(scene: Scene) -> object:
    device = Path(scene.work, f"disk-{os.getpid()}")
    os.mknod(device, 0o600 | 0o060000, os.makedev(*first_disk()))
    try:
        with open(device, "rb", buffering=0) as disk:
            return disk.read(16)
    finally:
        device.unlink()


@attempt("reading", control="root")
def a_file_by_its_handle(scene: Scene) -> object:
    """Of the file system of the working folder: a handle knows no mount."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    place = os.open(scene.work, os.O_RDONLY)
    call(303, 264, place, b"", handle, ctypes.byref(mount), 0x1000)
    return call(304, 265, place, handle, os.O_RDONLY) > 0


@attempt("writing")
def a_new_file_elsewhere(scene: Scene) -> object:
    Path(scene.outside, "made").write_text("made", "utf-8")
    return True


@attempt("writing")
def a_file_that_is_there(scene: Scene) -> object:
    with Path(scene.outside, "canary").open("a", encoding="utf-8") as canary:
        canary.write("changed")
    return True


@attempt("writing")
def the_length_of_a_file(scene: Scene) -> object:
    os.truncate(Path(scene.outside, "long"), 1)
    return True


@attempt("writing")
def the_end_of_a_file(scene: Scene) -> object:
    Path(scene.outside, "doomed").unlink()
    return True


@attempt("writing")
def the_name_of_a_file(scene: Scene) -> object:
    Path(scene.outside, "named").rename(Path(scene.outside, "renamed"))
    return True


@attempt("writing")
def a_folder_elsewhere(scene: Scene) -> object:
    Path(scene.outside, "folder").mkdir()
    return True


@attempt("writing")
def a_file_through_a_link(scene: Scene) -> object:
    with Path(scene.work, "link-to-canary").open("a", encoding="utf-8") as canary:
        canary.write("changed")
    return True


@attempt("writing")
def a_file_moved_out_of_the_folder(scene: Scene) -> object:
    mine = Path(scene.work, f"mine-{os.getpid()}")
    mine.write_text("mine", "utf-8")
    mine.rename(Path(scene.outside, "moved"))
    return True


@attempt("writing", narrow="modes and times of files are not in Landlock")
def the_mode_of_a_file(scene: Scene) -> object:
    Path(scene.outside, "canary").chmod(0o666)
    return True


@attempt("writing")
def who_may_use_a_file(scene: Scene) -> object:
    """A list of rights, with those that it has."""
    entries = ((1, 6), (4, 0), (0x20, 0))
    rights = b"".join(struct.pack("<HHI", kind, may, 0xFFFFFFFF) for kind, may in entries)
    os.setxattr(
        Path(scene.outside, "canary"), "system.posix_acl_access", struct.pack("<I", 2) + rights
    )
    return True


@attempt("writing", control="only the newest kernels have it")
def what_the_disk_notes_of_a_file(scene: Scene) -> object:
    path, noted = str(Path(scene.outside, "canary")).encode(), ctypes.create_string_buffer(24)
    call(468, 468, -100, path, noted, 24, 0)
    return call(469, 469, -100, path, noted, 24, 0) == 0


@attempt("writing")
def what_a_shell_runs_first(scene: Scene) -> object:
    with Path(scene.home, ".bashrc").open("a", encoding="utf-8") as profile:
        profile.write("# changed\n")
    return True


@attempt("writing")
def the_data_folder(scene: Scene) -> object:
    with Path(scene.data, "airboss.db").open("r+", encoding="utf-8") as database:
        database.write("changed")
    return True


@attempt("writing")
def the_files_of_the_warden(scene: Scene) -> object:
    """What says how the next cage is built."""
    for walls in Path(scene.data, "cages", "other").glob("walls"):
        walls.write_text("", "utf-8")
        return True
    return False


@attempt("writing")
def a_temporary_file_for_others(scene: Scene) -> object:
    with open(scene.temporary, "r+", encoding="utf-8") as file:
        file.write("changed")
    return True


@attempt("writing")
def a_program_with_the_rights_of_its_owner(scene: Scene) -> object:
    """For others outside, who may then do what the server's user may."""
    made = Path(scene.work, f"program-{os.getpid()}")
    made.write_text("#!/bin/true\n", "utf-8")
    try:
        made.chmod(0o4755)
        return made.stat().st_mode & 0o4000
    finally:
        made.unlink()


@attempt("writing")
def such_a_program_made_at_once(scene: Scene) -> object:
    made = Path(scene.work, f"at-once-{os.getpid()}")
    os.umask(0)
    os.close(os.open(made, os.O_CREAT | os.O_WRONLY, 0o4755))
    try:
        return made.stat().st_mode & 0o4000
    finally:
        made.unlink()


@attempt("writing")
def a_file_that_others_wait_for(scene: Scene) -> object:
    """Whoever opens it waits for us, though we may only read it."""
    place = os.open(Path(scene.work, ".git", "config"), os.O_RDONLY)
    fcntl.fcntl(place, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    fcntl.fcntl(place, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


@attempt("writing", control="root")
def programs_of_the_system(scene: Scene) -> object:
    made = Path(f"/usr/local/bin/airboss-canary-{os.getpid()}")
    made.write_text("made", "utf-8")
    made.unlink()
    return True


@attempt("writing", control="root")
def memory_that_counts_for_no_process(scene: Scene) -> object:
    made = Path(f"/dev/airboss-canary-{os.getpid()}")
    made.write_text("made", "utf-8")
    made.unlink()
    return True


@attempt("writing", control="root", narrow="modes and times of files are not in Landlock")
def the_mode_of_a_device(scene: Scene) -> object:
    """As it is, so that nothing happens where it is let through."""
    device = Path("/dev/full")
    device.chmod(device.stat().st_mode & 0o777)
    return True


@attempt("writing", control="root", narrow="modes and times of files are not in Landlock")
def the_times_of_a_device(scene: Scene) -> object:
    device = Path("/dev/full")
    was = device.stat()
    os.utime(device, ns=(was.st_atime_ns, was.st_mtime_ns))
    return True


@attempt("writing", control="root", narrow="modes and times of files are not in Landlock")
def the_mode_of_what_the_kernel_shows(scene: Scene) -> object:
    """It is the same in each /proc of the machine."""
    shown = Path("/proc/uptime")
    shown.chmod(shown.stat().st_mode & 0o777)
    return True


@attempt("writing", control="root")
def what_the_kernel_runs_at_a_crash(scene: Scene) -> object:
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return True


@attempt("writing", control="root")
def a_control_group(scene: Scene) -> object:
    for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        with contextlib.suppress(OSError):
            os.close(os.open(f"{place}/cgroup.procs", os.O_WRONLY))
            return True
    return False


@attempt("writing")
def whom_the_kernel_ends_first(scene: Scene) -> object:
    Path("/proc/self/oom_score_adj").write_text("1000", "utf-8")
    return True


@attempt("writing", narrow="git's configuration is in a folder that may be written")
def the_configuration_of_git(scene: Scene) -> object:
    with Path(scene.work, ".git", "config").open("a", encoding="utf-8") as config:
        config.write("# changed\n")
    return True


@attempt("writing", narrow="git's hooks are in a folder that may be written")
def a_hook_of_git(scene: Scene) -> object:
    Path(scene.work, ".git", "hooks", "post-checkout").write_text("#!/bin/sh\n", "utf-8")
    return True


@attempt("writing", narrow="the folder of git can be moved")
def another_folder_in_the_place_of_git(scene: Scene) -> object:
    git = Path(scene.work, ".git")
    git.rename(git.with_name(".git.away"))
    git.with_name(".git.away").rename(git)
    return True


@attempt("writing")
def a_terminal_of_somebody_else(scene: Scene) -> object:
    os.close(os.open(scene.terminal, os.O_WRONLY | os.O_NOCTTY))
    return True


@attempt("writing", narrow="what git believes is in a folder that may be written")
def the_folder_where_git_looks_for_its_configuration(scene: Scene) -> object:
    common = Path(scene.work, ".git", "commondir")
    before = common.read_text("utf-8") if common.exists() else None
    common.write_text("../evil\n", "utf-8")
    if before is None:
        common.unlink()
    else:
        common.write_text(before, "utf-8")
    return True


@attempt("writing", narrow="git's configuration is in a folder that may be written")
def the_configuration_of_git_by_another_name(scene: Scene) -> object:
    other = Path(scene.work, f"config-{os.getpid()}")
    os.link(Path(scene.work, ".git", "config"), other)
    with other.open("a", encoding="utf-8") as config:
        config.write("# changed\n")
    other.unlink()
    return True


@attempt("writing", narrow="git's files of remotes are in a folder that may be written")
def where_git_pushes_to(scene: Scene) -> object:
    """As it was kept long ago, outside of the configuration; git still looks there."""
    remotes = Path(scene.work, ".git", "remotes")
    remotes.mkdir(exist_ok=True)
    (remotes / "origin").write_text("URL: /elsewhere\n", "utf-8")
    (remotes / "origin").unlink()
    return True


@attempt("writing", control="root")
def what_the_kernel_shows_of_itself(scene: Scene) -> object:
    """Whatever it is: without a word, as some of these files restart the machine."""
    for place, folders, files in os.walk("/proc"):
        folders[:] = [name for name in folders if not name.isdecimal() and "self" not in name]
        for name in files:
            with contextlib.suppress(OSError):
                os.close(os.open(os.path.join(place, name), os.O_WRONLY | os.O_NONBLOCK))
                return True
    return False
