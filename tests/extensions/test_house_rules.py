"""What extensions tell is clean, and no more of them run than the settings say."""

from airboss.extension_settings import ExtensionSettings
from airboss.model.events import ToolEnded
from airboss.model.extension_events import ExtensionRefused, ExtensionSaid
from tests.extensions.hosted import GOOD, Hosted
from tests.service.house import ME


async def test_secrets_are_not_told_and_more_than_the_most_do_not_run(hosted: Hosted) -> None:
    room = hosted.host(await hosted.open()).room
    hosted.house.services.secrets.redactor.learn("hunter2-hunter2")
    await hosted.add(
        "a-leaky",
        """
        @tool
        async def leak() -> str:
            "x"
            await session.log("the word is hunter2-hunter2")
            raise ValueError("it is hunter2-hunter2")
        """,
    )
    await hosted.add("b-second", GOOD)
    settings = room.shelf.settings
    room.shelf.settings = ExtensionSettings(most=len(room._running) + 1)  # type: ignore[attr-defined]
    try:
        session = await hosted.open()
        await hosted.ask(session, "call leak {}")
    finally:
        room.shelf.settings = settings
    [said] = await hosted.said(session, ExtensionSaid)
    assert "hunter2" not in said.text
    [ended] = await hosted.said(session, ToolEnded)
    assert "hunter2" not in ended.model_dump_json()
    [refused] = await hosted.said(session, ExtensionRefused)
    assert refused.name == "b-second"
    assert "which is the limit" in refused.reason
    await hosted.house.sessions.close(session, ME)
