"""Only what is somebody else's on the open internet is a public address."""

from ipaddress import ip_address, ip_network

import pytest

from airboss.net.addresses import is_local_name, is_metadata, is_public

# IANA's registries of special addresses, and what leads from one kind of address to another.
SPECIAL = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/31 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24
    198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
    ::/128 ::1/128 ::ffff:0:0:0/96 64:ff9b:1::/64 100::/64 100:0:0:1::/64
    2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32
    2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
    2620:4f:8000::/48 3ffe::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
"""
# Those with public addresses on both sides.
ALONE = """
    100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
    192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 2001:db8::/32 2620:4f:8000::/48
"""


@pytest.mark.parametrize("network", SPECIAL.split())
def test_a_special_network_is_not_public_from_its_first_address_to_its_last(network: str) -> None:
    special = ip_network(network)
    middle = special[special.num_addresses // 2]
    for address in (special[0], middle, special[-1]):
        assert not is_public(str(address)), address


@pytest.mark.parametrize("network", ALONE.split())
def test_what_lies_beside_it_is_public(network: str) -> None:
    special = ip_network(network)
    assert is_public(str(special[0] - 1))
    assert is_public(str(special[-1] + 1))


@pytest.mark.parametrize(
    "inner", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.88.99.1"]
)
def test_an_address_in_another_is_not_public_either(inner: str) -> None:
    number = int(ip_address(inner))
    high, low = number >> 16, number & 0xFFFF
    for address in (
        f"::ffff:{inner}",
        f"::{inner}",
        f"::ffff:0:{inner}",
        f"64:ff9b::{inner}",
        f"64:ff9b:1::{inner}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:{high:x}:{low:x}::1",
        f"2606:4700::5efe:{inner}",
        f"2606:4700::200:5efe:{inner}",
    ):
        assert not is_public(address), address


@pytest.mark.parametrize(
    "address",
    [
        "100.100.100.200",
        "168.63.129.16",
        "169.254.169.254",
        "fd00:ec2::254",
        "fe80::1%eth0",
        "2606:4700::1%eth0",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "nonsense",
        "",
    ],
)
def test_an_address_that_nobody_can_be_sure_of_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "140.82.121.4", "2606:4700::1111", "::ffff:1.1.1.1", "2a00:1450:4001::1"]
)
def test_a_public_address_is_known(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"),
        "2606:4700::200:5efe:8.8.8.8",
    ],
)
def test_an_address_that_leads_to_a_public_one_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192"),
        *("fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254"),
        *("2002:a9fe:a9fe::1", "fe80::5efe:169.254.169.254"),
    ],
)
def test_where_a_cloud_keeps_its_machines_keys_is_known(address: str) -> None:
    assert is_metadata(address)
    assert not is_public(address)


def test_other_addresses_keep_no_keys() -> None:
    for address in ("8.8.8.8", "127.0.0.1", "10.0.0.1", "::1", "fd12::1", "2606:4700::1", "odd"):
        assert not is_metadata(address), address


def test_some_names_mean_this_machine_or_network_whatever_they_lead_to() -> None:
    for name in (
        "localhost",
        "LocalHost.",
        "a.localhost",
        "printer.local",
        "db.internal",
        "METADATA",
    ):
        assert is_local_name(name), name
    for name in ("example.com", "localhost.example.com", "internal", "1.example.com", "10.example"):
        assert not is_local_name(name), name
