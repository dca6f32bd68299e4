"""The numbers of the system calls that no build needs and many escapes begin with.

One table for each architecture that a cage can be built on; on others there is none.
"""

from __future__ import annotations

# From here on, new calls have the same number everywhere.
_SAME = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    "memfd_secret": 447,
    "process_mrelease": 448,
    "set_mempolicy_home_node": 450,
    "open_tree_attr": 467,
}

_X86_64 = {
    "ioctl": 16,
    "socket": 41,
    "connect": 42,
    "socketpair": 53,
    "clone": 56,
    "fcntl": 72,
    "ptrace": 101,
    "syslog": 103,
    "uselib": 134,
    "vhangup": 153,
    "modify_ldt": 154,
    "pivot_root": 155,
    "_sysctl": 156,
    "prctl": 157,
    "adjtimex": 159,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "iopl": 172,
    "ioperm": 173,
    "create_module": 174,
    "init_module": 175,
    "delete_module": 176,
    "get_kernel_syms": 177,
    "query_module": 178,
    "quotactl": 179,
    "nfsservctl": 180,
    "io_setup": 206,
    "lookup_dcookie": 212,
    "clock_settime": 227,
    "mbind": 237,
    "set_mempolicy": 238,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "migrate_pages": 256,
    "unshare": 272,
    "move_pages": 279,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "clock_adjtime": 305,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "seccomp": 317,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
    **_SAME,
}

_AARCH64 = {
    "io_setup": 0,
    "lookup_dcookie": 18,
    "fcntl": 25,
    "ioctl": 29,
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "nfsservctl": 42,
    "chroot": 51,
    "vhangup": 58,
    "quotactl": 60,
    "acct": 89,
    "unshare": 97,
    "kexec_load": 104,
    "init_module": 105,
    "delete_module": 106,
    "clock_settime": 112,
    "syslog": 116,
    "ptrace": 117,
    "reboot": 142,
    "sethostname": 161,
    "setdomainname": 162,
    "prctl": 167,
    "settimeofday": 170,
    "adjtimex": 171,
    "socket": 198,
    "socketpair": 199,
    "connect": 203,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "clone": 220,
    "swapon": 224,
    "swapoff": 225,
    "mbind": 235,
    "set_mempolicy": 237,
    "migrate_pages": 238,
    "move_pages": 239,
    "perf_event_open": 241,
    "fanotify_init": 262,
    "name_to_handle_at": 264,
    "open_by_handle_at": 265,
    "clock_adjtime": 266,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "seccomp": 277,
    "bpf": 280,
    "userfaultfd": 282,
    "kexec_file_load": 294,
    **_SAME,
}

# What namespaces keep apart, and a cage without them has to refuse: queues, semaphores and memory
# of the whole system.
_SHARED_X86_64 = {
    "shmget": 29,
    "shmat": 30,
    "shmctl": 31,
    "semget": 64,
    "semop": 65,
    "semctl": 66,
    "msgget": 68,
    "msgsnd": 69,
    "msgrcv": 70,
    "msgctl": 71,
    "semtimedop": 220,
    "mq_open": 240,
    "mq_unlink": 241,
}
_SHARED_AARCH64 = {
    "mq_open": 180,
    "mq_unlink": 181,
    "msgget": 186,
    "msgctl": 187,
    "msgrcv": 188,
    "msgsnd": 189,
    "semget": 190,
    "semctl": 191,
    "semtimedop": 192,
    "semop": 193,
    "shmget": 194,
    "shmctl": 195,
    "shmat": 196,
}
SHARED = {"x86_64": _SHARED_X86_64, "aarch64": _SHARED_AARCH64}
# They need no right to open a file, and Landlock knows nothing of them: with a path, each file that
# belongs to one's user is changed.
_ATTRIBUTES_SAME = {"setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
_ATTRIBUTES_X86_64 = {
    "setxattr": 188,
    "lsetxattr": 189,
    "fsetxattr": 190,
    "removexattr": 197,
    "lremovexattr": 198,
    "fremovexattr": 199,
    **_ATTRIBUTES_SAME,
}
_ATTRIBUTES_AARCH64 = {
    "setxattr": 5,
    "lsetxattr": 6,
    "fsetxattr": 7,
    "removexattr": 14,
    "lremovexattr": 15,
    "fremovexattr": 16,
    **_ATTRIBUTES_SAME,
}
ATTRIBUTES = {"x86_64": _ATTRIBUTES_X86_64, "aarch64": _ATTRIBUTES_AARCH64}
# Calls that may name other processes, and below which bound each of these arguments has to be: 0 is
# oneself, if the one before says that a process is named. Of a group or a user it would be all that
# are one's own, and a process may join any group of its session.
_NAMING_X86_64 = {
    "setpriority": (141, {0: 1, 1: 1}),
    "sched_setparam": (142, {0: 1}),
    "sched_setscheduler": (144, {0: 1}),
    "sched_setaffinity": (203, {0: 1}),
    "ioprio_set": (251, {0: 2, 1: 1}),
    "prlimit64": (302, {0: 1}),
    "sched_setattr": (314, {0: 1}),
}
_NAMING_AARCH64 = {
    "ioprio_set": (30, {0: 2, 1: 1}),
    "sched_setparam": (118, {0: 1}),
    "sched_setscheduler": (119, {0: 1}),
    "sched_setaffinity": (122, {0: 1}),
    "setpriority": (140, {0: 1, 1: 1}),
    "prlimit64": (261, {0: 1}),
    "sched_setattr": (274, {0: 1}),
}
NAMING = {"x86_64": _NAMING_X86_64, "aarch64": _NAMING_AARCH64}

# Calls that give a file its mode: in which argument it is, and in which one it says that a file may
# be made, where it need not be.
_MODES_X86_64: dict[str, tuple[int, int, int | None]] = {
    "open": (2, 2, 1),
    "creat": (85, 1, None),
    "chmod": (90, 1, None),
    "fchmod": (91, 1, None),
    "mknod": (133, 1, None),
    "openat": (257, 3, 2),
    "mknodat": (259, 2, None),
    "fchmodat": (268, 2, None),
    "fchmodat2": (452, 2, None),
}
_MODES_AARCH64: dict[str, tuple[int, int, int | None]] = {
    "mknodat": (33, 2, None),
    "fchmod": (52, 1, None),
    "fchmodat": (53, 2, None),
    "openat": (56, 3, 2),
    "fchmodat2": (452, 2, None),
}
MODES = {"x86_64": _MODES_X86_64, "aarch64": _MODES_AARCH64}

CALLS = {"x86_64": _X86_64, "aarch64": _AARCH64}
# How the kernel names them to a filter.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# What the walls themselves are made with, or what is looked at more closely.
_NEEDED = frozenset(
    {
        "ioctl",
        "fcntl",
        "prctl",
        "socket",
        "socketpair",
        "connect",
        "clone",
        "seccomp",
        "landlock_create_ruleset",
        "landlock_add_rule",
        "landlock_restrict_self",
    }
)
# Answered as by a kernel that does not know them: whoever asks then takes the older way.
# What `io_setup` makes has one bound for the whole machine.
UNKNOWN = frozenset(
    {"clone3", "openat2", "io_setup", "io_uring_setup", "io_uring_enter", "io_uring_register"}
)
DEBUGGERS = frozenset({"ptrace", "process_vm_readv", "process_vm_writev", "kcmp"})


def refused(machine: str, *, debuggers: bool) -> dict[str, int]:
    """The calls that a cage on this architecture refuses, by name."""
    left = _NEEDED | DEBUGGERS if debuggers else _NEEDED
    return {name: number for name, number in CALLS[machine].items() if name not in left}
