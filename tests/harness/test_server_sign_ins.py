"""MCP servers that want a person to sign in, on the real runtime: a person is asked, the server's
tools work, and no process of an agent has what lets us in."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airboss.errors import Conflict, Invalid, NotFound, SignInFailed
from airboss.model.inbox_events import InboxItem, SignInAsked
from airboss.provider_settings import Provider, ProviderModel
from tests.runtime.copilot_service import Stage, on_stage
from tests.servers.started import SIGNED_IN, Wiki, person_at, started
from tests.service.house import ME, House, house_in
from tests.service.test_mcp_servers import PATIENT, calling, ends
from tests.service.test_session_setup import Watched, offered

pytestmark = pytest.mark.timeout(150)

BACK = "http://localhost/inbox.html"


@pytest.fixture(scope="module")
def wiki() -> Generator[Wiki]:
    with started(SIGNED_IN) as address:
        yield Wiki(address)


@pytest.fixture
async def watched(tmp_path: Path, wiki: Wiki) -> AsyncGenerator[Watched]:
    session: dict[str, Any] = {"mcp_servers": {"wiki": {"url": wiki.url}}}
    async with on_stage(Stage()) as stage:
        provider = Provider(
            name="house", base_url=f"{stage.address}/v1", models=(ProviderModel(id="stand-in"),)
        )
        async with house_in(
            tmp_path,
            providers=(provider,),
            session=session,
            permissions="approve-all",
            mcp_wait_seconds=PATIENT,
        ) as house:
            yield Watched(house, stage, tmp_path / "work" / "airboss.json")


async def item_of(house: House) -> InboxItem:
    async with asyncio.timeout(40), house.services.log.follow("inbox", 0) as follower:
        while not (items := house.services.inbox.waiting()):
            await follower.next(1)
    return items[0]


async def signed_in(house: House, session: str, server: str = "wiki") -> None:
    url = await house.services.server_sign_ins.begin(session, server, ME, BACK)
    back = await asyncio.to_thread(person_at, url)
    await house.services.server_sign_ins.finish(
        back["state"], back["code"], None, back.get("iss"), ME
    )


async def test_a_person_signs_in_and_the_tools_work_also_in_the_next_session_and_server(
    watched: Watched, wiki: Wiki, tmp_path: Path
) -> None:
    house = watched.house
    session = await watched.opened()
    await house.sessions.prompt(session, calling("wiki-page", name="owls"), ME)
    item = await item_of(house)
    asked = item.asked
    assert isinstance(asked, SignInAsked)
    assert (asked.server, asked.address) == ("wiki", wiki.address.removeprefix("http://"))
    assert watched.stage.requests == [], "nothing was sent to the model yet"
    [server] = (await house.sessions.show(session)).mcp_servers
    assert (server.state, server.error) == (
        "needs-sign-in",
        "The MCP server wiki wants a person to sign in (401).",
    )

    await signed_in(house, session)
    await house.until(session, "idle", turns=1, seconds=60)
    assert [end.text.splitlines()[0] for end in await ends(watched, session)] == ["All about owls."]
    [server] = (await house.sessions.setup(session)).servers
    assert (server.state, server.tools, server.signed_in) == ("connected", ("page",), ME)
    # A session that comes later is let in, also when the token is not taken any more.
    given = wiki.known()["given"]
    wiki.forget()
    later = await watched.opened()
    await watched.asked(later, calling("wiki-page", name="mice"))
    assert [end.text.splitlines()[0] for end in await ends(watched, later)] == ["All about mice."]
    assert wiki.known()["given"] == given + 1
    secrets = wiki.known()["secrets"]
    assert len(secrets) >= 2
    assert_hidden(house, tmp_path, secrets)
    story = str([await house.story(one) for one in (session, later, "inbox")])
    assert not [one for one in secrets if one in story]

    await house.services.server_sign_ins.sign_out(session, "wiki", ME)
    assert not list((tmp_path / "data" / "secrets").glob("mcp-*"))
    with pytest.raises(NotFound):
        await house.services.server_sign_ins.sign_out(session, "wiki", ME)


def assert_hidden(house: House, folder: Path, secrets: list[str]) -> None:
    """In no process of an agent, and in no file but those of the secrets."""
    runtime = psutil.Process(house.services.status.pool.pid)
    shown = str([process.environ() for process in (runtime, *runtime.children(recursive=True))])
    assert not [one for one in secrets if one in shown]
    for file in folder.rglob("*"):
        if file.is_file() and "secrets" not in file.parts:
            content = file.read_bytes()
            assert not [one for one in secrets if one.encode() in content], file
    kept = [file.read_text("utf-8") for file in (folder / "data" / "secrets").iterdir()]
    assert set(secrets) & set(kept)
    redactor = house.sessions.redactor
    assert not [one for one in secrets if one in kept and one in redactor.text(f"a {one} b")]


async def test_a_server_that_nobody_signs_in_at_stays_off_and_the_session_goes_on(
    watched: Watched,
) -> None:
    house = watched.house
    session = await watched.opened()
    await house.sessions.prompt(session, "say hello", ME)
    item = await item_of(house)
    with pytest.raises(Invalid, match="Sign in at the server instead"):
        await house.services.decisions.decide(item.id, "allow-once", ME)
    await house.services.decisions.decline(item.id, ME)
    await house.until(session, "idle", turns=1, seconds=60)
    assert "wiki-page" not in offered(watched.stage.requests[-1])
    await watched.asked(session)
    assert not house.services.inbox.waiting(), "it is asked once"

    # Somebody changes their mind, without being asked.
    await signed_in(house, session)
    async with asyncio.timeout(60), house.sessions.follow(session, 0) as follower:
        while (await house.sessions.show(session)).mcp_servers[0].state != "connected":
            await follower.next(1)
    assert "wiki-page" in offered(await watched.asked(session))


async def test_a_stopped_turn_waits_for_no_sign_in(watched: Watched) -> None:
    house = watched.house
    session = await watched.opened()
    await house.sessions.prompt(session, "say hello", ME)
    await item_of(house)
    view = await house.sessions.abort(session)
    assert (view.state, house.services.inbox.waiting()) == ("idle", ())
    assert watched.stage.requests == []


async def test_what_a_browser_brings_counts_once_and_for_who_began_it(watched: Watched) -> None:
    sign_ins = watched.house.services.server_sign_ins
    session = await watched.opened()
    url = await sign_ins.begin(session, "wiki", ME, BACK)
    back = await asyncio.to_thread(person_at, url)
    state, code = back["state"], back["code"]
    with pytest.raises(Conflict, match="not known here"):
        await sign_ins.finish("another", code, None, None, ME)
    with pytest.raises(Conflict, match="me began this sign-in"):
        await sign_ins.finish(state, code, None, None, "somebody else")
    with pytest.raises(SignInFailed, match="from another server"):
        await sign_ins.finish(state, code, None, "https://elsewhere.example", ME)
    with pytest.raises(Conflict, match="not known here"):
        await sign_ins.finish(state, code, None, None, ME)

    url = await sign_ins.begin(session, "wiki", ME, BACK)
    state = (await asyncio.to_thread(person_at, url, "refuse"))["state"]
    with pytest.raises(SignInFailed, match=r"was not granted \(access_denied\)"):
        await sign_ins.finish(state, None, "access_denied", None, ME)
    url = await sign_ins.begin(session, "wiki", ME, BACK)
    state = (await asyncio.to_thread(person_at, url))["state"]
    with pytest.raises(SignInFailed, match=r"refused the sign-in \(status 40\d, invalid_grant\)"):
        await sign_ins.finish(state, "a code that nobody gave", None, None, ME)
    with pytest.raises(NotFound):
        await sign_ins.begin(session, "nobody", ME, BACK)


@pytest.mark.parametrize("registered", ["airboss-here", "airboss-here:secret-of-airboss"])
async def test_where_nobody_registers_by_themselves_the_settings_say_who_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: str
) -> None:
    name, _, secret = registered.partition(":")
    known = {"client_id": name}
    if secret:
        monkeypatch.setenv("OUR_SECRET", secret)
        known["client_secret_variable"] = "OUR_SECRET"
    # Tokens are good for less time than one is renewed before: each call has another one.
    with started(SIGNED_IN, "20", REGISTERED=registered, BACK=BACK) as address:
        described = {"url": f"{address}/mcp"}
        servers = {"wiki": {**described, **known}, "other": described}
        session: dict[str, Any] = {"mcp_servers": servers}
        async with on_stage(Stage()) as stage:
            provider = Provider(
                name="house", base_url=f"{stage.address}/v1", models=(ProviderModel(id="stand-in"),)
            )
            async with house_in(
                tmp_path,
                providers=(provider,),
                session=session,
                permissions="approve-all",
                mcp_wait_seconds=PATIENT,
            ) as house:
                watched = Watched(house, stage, tmp_path / "work" / "airboss.json")
                opened = await watched.opened()
                await house.sessions.prompt(opened, calling("wiki-page", name="owls"), ME)
                assert isinstance((await item_of(house)).asked, SignInAsked)
                with pytest.raises(SignInFailed, match="Register Airboss there by hand"):
                    await signed_in(house, opened, "other")
                await signed_in(house, opened)
                await house.until(opened, "idle", turns=1, seconds=60)
                [end] = await ends(watched, opened)
                assert end.text.startswith("All about owls.")
                given = Wiki(address).known()["given"]
                assert given > 1, "it was renewed as well"
        kept = [file.read_text("utf-8") for file in (tmp_path / "data").rglob("*-client")]
        assert kept == []
