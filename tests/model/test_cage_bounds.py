"""One cage is wider than another where it has more folders, hosts, variables or means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.cage_settings import CageProfile
from airboss.model.cage_bounds import ServerCages, covers, narrowed, wider
from airboss.settings import Settings

_SERVER = CageProfile(
    read=("/opt/data",),
    write=("/srv/cache",),
    hosts=("*.example.org", "example.com:8443", "@python"),
    variables=("LANG", "TZ"),
)


@pytest.mark.parametrize(
    ("pattern", "host", "is_covered"),
    [
        ("example.org", "example.org", True),
        ("example.org", "EXAMPLE.org", True),
        ("example.org", "example.org:443", True),
        ("example.org", "example.org:8443", False),
        ("example.org", "www.example.org", False),
        ("example.org", "*.example.org", False),
        ("*.example.org", "www.example.org", True),
        ("*.example.org", "*.www.example.org", True),
        ("*.example.org", "*.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "wwwexample.org", False),
        ("*.example.org", "www.example.org:8443", False),
        ("example.com:8443", "example.com:8443", True),
        ("example.com:8443", "example.com", False),
        ("@python", "@python", True),
        ("@python", "@node", False),
        ("*.python", "@python", False),
    ],
)
def test_who_may_reach_one_host_may_reach_another(
    pattern: str, host: str, is_covered: bool
) -> None:
    assert covers(pattern, host) is is_covered


def test_all_that_is_wider_is_told_by_its_key() -> None:
    wished = CageProfile(
        read=("/srv/cache/deep", "/opt"),
        write=("/srv/cache/../other", "relative"),
        hosts=("www.example.org", "example.net"),
        unknown_hosts="ask",
        variables=("TZ", "PATH"),
        memory_mb=8192,
        debuggers=True,
    )
    assert [tuple(one) for one in wider(wished, _SERVER)] == [
        ("read", "to read /opt"),
        ("write", "to write /srv/cache/../other, relative"),
        ("hosts", "to reach example.net"),
        ("unknown_hosts", "for a person to be asked about other hosts"),
        ("variables", "for the variables PATH"),
        ("memory_mb", "for 8192 MB of memory"),
        ("debuggers", "for debuggers"),
    ]
    assert narrowed(_SERVER, wished) == CageProfile(
        read=("/srv/cache/deep",), hosts=("www.example.org",), variables=("TZ",)
    )


def test_links_are_followed_by_whoever_has_a_disk() -> None:
    wished = CageProfile(read=("/opt/data/link",))
    real = {"/opt/data/link": "/etc"}
    assert list(wider(wished, _SERVER)) == []
    assert [one.key for one in wider(wished, _SERVER, lambda path: real.get(path, path))] == [
        "read"
    ]


_WORDS = st.lists(
    st.sampled_from(["/a", "/a/b", "/c", "../x", "~", "/a/../c"]), max_size=3, unique=True
).map(tuple)
_HOSTS = st.lists(
    st.sampled_from(["a.org", "*.a.org", "x.a.org", "a.org:81", "@python", "@node"]), max_size=3
).map(tuple)
_PROFILES = st.builds(
    CageProfile,
    read=_WORDS,
    write=_WORDS,
    hosts=_HOSTS,
    unknown_hosts=st.sampled_from(["refuse", "ask"]),
    variables=st.lists(st.sampled_from(["LANG", "TZ", "TERM"]), max_size=3).map(tuple),
    memory_mb=st.integers(128, 8192),
    processes=st.integers(16, 1000),
    file_mb=st.integers(1, 4096),
    debuggers=st.booleans(),
)


@given(_PROFILES, _PROFILES)
def test_what_is_narrowed_is_wider_than_neither(profile: CageProfile, wished: CageProfile) -> None:
    found = narrowed(profile, wished)
    assert list(wider(found, profile)) == []
    assert set(found.read) <= set(wished.read)
    assert set(found.hosts) <= set(wished.hosts)


def test_a_default_profile_is_always_there() -> None:
    cages = ServerCages.of(Settings(cages={"web": CageProfile(hosts=("example.org",))}))
    assert cages.names == ("default", "web")
    assert cages.profile("default") == CageProfile()
    assert cages.profile("other") is None
    assert cages.are_offered
    assert not ServerCages(use="off").are_offered
