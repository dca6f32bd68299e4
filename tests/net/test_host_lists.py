"""Lists of hosts: what they name, and what is refused in them."""

import pytest

from airboss.net.host_lists import HostEntryInvalid, HostList, host_list


def test_a_name_means_this_host_at_the_ports_of_the_web() -> None:
    hosts = host_list(["Example.org"])
    assert hosts.names("example.org", 443)
    assert hosts.names("example.org", 80)
    assert not hosts.names("example.org", 22)
    assert not hosts.names("www.example.org", 443)
    assert not hosts.names("badexample.org", 443)


def test_a_star_means_every_host_below_and_not_the_host_itself() -> None:
    hosts = host_list(["*.example.org"])
    assert hosts.names("a.example.org", 443)
    assert hosts.names("a.b.example.org", 443)
    assert not hosts.names("example.org", 443)
    assert not hosts.names("example.org.evil.test", 443)


def test_a_port_means_this_port_alone() -> None:
    hosts = host_list(["example.org:8443", "*.example.org:22"])
    assert hosts.names("example.org", 8443)
    assert not hosts.names("example.org", 443)
    assert hosts.names("git.example.org", 22)


def test_an_empty_list_names_nobody() -> None:
    assert host_list([]) == HostList()
    assert not HostList().names("example.org", 443)


def test_sets_are_told_apart_from_names_and_everything_counts_once() -> None:
    hosts = host_list(["@python", "example.org", "@python", "EXAMPLE.org.", "@node"])
    assert hosts.sets == ("@python", "@node")
    assert len(hosts.entries) == 1


@pytest.mark.parametrize(
    ("entry", "advice"),
    [
        ("@ruby", "Use @python or @node"),
        ("https://example.org/simple", "Write its host alone"),
        ("user@example.org", "Write its host alone"),
        ("*", "there is no entry for all hosts"),
        ("*.*.example.org", "there is no entry for all hosts"),
        ("a*.example.org", "Write *.example.org for every host below"),
        ("*.org", "Name the hosts below it instead"),
        ("10.0.0.1", "named, not numbered"),
        ("1.1.1.1", "named, not numbered"),
        ("[::1]:80", "named, not numbered"),
        ("::1", "named, not numbered"),
        ("0x7f.1", "not the name of a host"),
        ("2130706433", "not the name of a host"),
        ("exa mple.org", "not the name of a host"),
        ("", "not the name of a host"),
        ("localhost", "no cage reaches"),
        ("metadata.google.internal", "no cage reaches"),
        ("example.org:", "use 1 to 65535"),
        ("example.org:0", "use 1 to 65535"),
        ("example.org:65536", "use 1 to 65535"),
        ("example.org:http", "use 1 to 65535"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name_with_advice(entry: str, advice: str) -> None:
    with pytest.raises(HostEntryInvalid) as refused:
        host_list(["example.org", entry])
    assert f"“{entry}”" in str(refused.value)
    assert advice in str(refused.value)
