"""The cage of a session, of all that is said about it."""

from pathlib import Path

import pytest

from airboss.cage_keys import CageKeys
from airboss.cage_settings import CageProfile
from airboss.errors import Invalid
from airboss.harness.session_cage import SessionCage, check_profiles
from airboss.harness.setup import Said, in_settings
from airboss.model.cage_bounds import ServerCages, real_path
from airboss.model.setup import CageSetup
from airboss.runtime.cage.profile import links
from airboss.session_keys import NOTHING_SAID, SessionKeys

_WEB = CageProfile(hosts=("*.example.org", "example.com"), write=("/srv/cache",))
_CAGES = ServerCages(profiles={"web": _WEB, "deploy": CageProfile(write=("/srv",))})


def _said(cage: CageKeys, *, may_widen: bool = False) -> Said:
    return Said(SessionKeys(cage=cage), "entry.", may_widen)


def _wish(*said: Said, settings: SessionKeys = NOTHING_SAID) -> CageSetup | None:
    return SessionCage((in_settings(settings), *said), _CAGES).wish(is_of_task=True).cage


def test_without_a_word_there_is_a_usual_one_and_none_is_named() -> None:
    wish = SessionCage((in_settings(NOTHING_SAID),), _CAGES).wish(is_of_task=False)
    assert wish.cage is None
    assert wish.usual == CageSetup(profile="default", terms=CageProfile())


def test_a_file_that_nobody_trusts_only_takes_away() -> None:
    settings = SessionKeys(cage=CageKeys(profile="web"))
    wished = CageKeys(hosts=("a.example.org", "example.net"), memory_mb=1024)
    assert _wish(_said(wished), settings=settings) == CageSetup(
        profile="web",
        terms=_WEB.model_copy(update={"hosts": ("a.example.org",), "memory_mb": 1024}),
    )
    assert _wish(_said(CageKeys(profile="deploy"))) == CageSetup(
        profile="deploy", terms=CageProfile()
    )


def test_a_trusted_one_has_what_it_names() -> None:
    trusted = _said(CageKeys(profile="deploy", memory_mb=8192), may_widen=True)
    narrowing = _said(CageKeys(write=("/srv/www",)))
    assert _wish(trusted, narrowing) == CageSetup(
        profile="deploy", terms=CageProfile(write=("/srv/www",), memory_mb=8192)
    )


def test_paths_are_kept_as_the_disk_has_them() -> None:
    cage = SessionCage((_said(CageKeys(read=("/srv/a",)), may_widen=True),), _CAGES)
    wish = cage.wish(is_of_task=True, real=lambda path: f"/real{path}")
    assert wish.cage is not None
    assert wish.cage.terms.read == ("/real/srv/a",)


def test_folders_of_the_server_are_those_of_its_start(tmp_path: Path) -> None:
    """An agent in a cage of a folder above may have put a link in the place of one since."""
    private, lib = tmp_path / "private", tmp_path / "lib"
    private.mkdir()
    (tmp_path / "real").mkdir()
    lib.symlink_to(tmp_path / "real")
    web = CageProfile(read=(str(lib),))
    cages = ServerCages(profiles={"web": web}).pinned(real_path)
    assert cages.profiles["web"].read == (str(tmp_path / "real"),)
    (tmp_path / "real").rmdir()
    (tmp_path / "real").symlink_to(private)
    named = _said(CageKeys(profile="web"), may_widen=True)
    wish = SessionCage((named,), cages).wish(is_of_task=True, real=real_path)
    assert wish.cage is not None
    assert wish.cage.terms.read == (str(tmp_path / "real"),)
    said = links(wish.cage.terms, Path("/home/ann"))
    assert said == (f"read: {tmp_path / 'real'} is refused: it became a link, to {private}.",)
    aimed = _said(CageKeys(read=(str(private),)))
    wish = SessionCage((named, aimed), cages).wish(is_of_task=True, real=real_path)
    assert wish.cage is not None
    assert wish.cage.terms.read == ()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            CageKeys(profile="other"),
            'entry.cage: There is no profile "other" of cages. There are: default, web, deploy.',
        ),
        (CageKeys(hosts=("https://example.org",)), "entry.cage.hosts[0]: Should be a host such as"),
        (
            CageKeys(variables=("TZ", "GITHUB_TOKEN")),
            "entry.cage.variables[1]: It is the name of a secret",
        ),
        (CageKeys(variables=("A B",)), "entry.cage.variables[0]: Should be the name of a variable"),
    ],
)
def test_what_means_nothing_is_refused_by_name(keys: CageKeys, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        SessionCage((_said(keys),), _CAGES).check()
    assert str(refused.value).startswith(words)


def test_profiles_of_the_settings_are_checked_as_well(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"^settings: cages.web.hosts\[0\]: Should be a host"):
        check_profiles(ServerCages(profiles={"web": CageProfile(hosts=("*",))}), tmp_path)
    with pytest.raises(Invalid, match=r"^settings: cages.web.write: / is refused: it is the whole"):
        check_profiles(ServerCages(profiles={"web": CageProfile(write=("/",))}), tmp_path)
