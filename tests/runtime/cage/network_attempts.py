"""Sockets of this machine, and other machines."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

from tests.runtime.cage.attempt_table import Scene, attempt


@attempt("network")
def a_port_of_this_machine(scene: Scene) -> object:
    socket.create_connection(("127.0.0.1", scene.port), 2).close()
    return True


@attempt("network")
def a_port_by_another_of_its_addresses(scene: Scene) -> object:
    socket.create_connection(("127.8.8.8", scene.port), 2).close()
    return True


@attempt("network")
def a_port_by_the_address_of_nobody(scene: Scene) -> object:
    socket.create_connection(("0.0.0.0", scene.port), 2).close()  # noqa: S104 - connected to
    return True


@attempt("network")
def a_port_by_the_mapped_address(scene: Scene) -> object:
    socket.create_connection(("::ffff:127.0.0.1", scene.port), 2).close()
    return True


@attempt("network")
def a_port_of_the_sixth_version(scene: Scene) -> object:
    socket.create_connection(("::1", scene.port_six), 2).close()
    return True


@attempt("network")
def a_datagram_to_this_machine(scene: Scene) -> object:
    """Sent, and answered by whoever listens outside."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.settimeout(1)
        out.sendto(b"ping", ("127.0.0.1", scene.datagrams))
        return out.recv(16) == b"pong"


@attempt("network")
def a_socket_in_the_home(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(scene.stream_socket)
        return True


@attempt("network")
def a_socket_by_a_link(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(str(Path(scene.work, "link-to-socket")))
        return True


@attempt("network")
def a_socket_of_datagrams(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        return out.sendto(b"ping", scene.datagram_socket) == 4


@attempt("network")
def a_socket_of_datagrams_by_a_pair(scene: Scene) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"ping", scene.datagram_socket) == 4


@attempt("network")
def a_raw_socket_of_a_path(scene: Scene) -> object:
    """The kernel makes one of datagrams of it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_RAW) as out:
        return out.sendto(b"ping", scene.datagram_socket) == 4


@attempt("network")
def a_raw_socket_by_a_pair(scene: Scene) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    with one, other:
        return one.sendto(b"ping", scene.datagram_socket) == 4


@attempt("network")
def a_socket_without_a_path(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(f"\0{scene.abstract}")
        return True


@attempt("network", control="it needs a network, which tests do without")
def a_server_elsewhere(scene: Scene) -> object:
    socket.create_connection(("192.0.2.1", 80), 1).close()
    return True


@attempt("network", control="it needs a network, which tests do without")
def the_data_of_the_cloud(scene: Scene) -> object:
    socket.create_connection(("169.254.169.254", 80), 1).close()
    return True


@attempt("network", control="it needs a network, which tests do without")
def a_name_that_is_resolved(scene: Scene) -> object:
    return socket.getaddrinfo("example.org", 80)


@attempt("network", control="a machine may have no other card")
def a_card_of_this_machine(scene: Scene) -> object:
    return [name for _, name in socket.if_nameindex() if name != "lo"]


@attempt("network")
def a_card_by_what_the_kernel_tells(scene: Scene) -> object:
    """Connections of this machine, in the table of them."""
    table = Path("/proc/net/tcp").read_text("utf-8")
    return f"0100007F:{scene.port:04X}" in table


@attempt("network", control="root")
def a_raw_socket(scene: Scene) -> object:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return True


@attempt("network", control="root")
def a_socket_of_packets(scene: Scene) -> object:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return True


@attempt("network", control="not every kernel has it")
def a_socket_to_the_host_of_a_machine(scene: Scene) -> object:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return True


@attempt("network")
def a_pair_of_sockets_of_the_network(scene: Scene) -> object:
    """It is made, and then the kernel finds that this family has no pairs. Others have."""
    try:
        socket.socketpair(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP
    return True


@attempt("network", control="not every kernel has it")
def a_pair_of_sockets_of_a_cluster(scene: Scene) -> object:
    socket.socketpair(socket.AF_TIPC, socket.SOCK_STREAM)
    return True


@attempt("network", control="not every kernel has it")
def a_socket_of_the_kernels_ciphers(scene: Scene) -> object:
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close()
    return True


@attempt("network", control="root")
def a_card_of_ones_own(scene: Scene) -> object:
    os.close(os.open("/dev/net/tun", os.O_RDWR))
    return True


@attempt("network", control="only a cage has it")
def the_hand_that_took_the_doors(scene: Scene) -> object:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect("/run/doors/hand")
        return True


@attempt("network", control="only a cage has it")
def doors_in_the_place_of_the_wardens(scene: Scene) -> object:
    Path("/run/doors/hand").write_text("", "utf-8")
    return True
