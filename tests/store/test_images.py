"""Images of requests as rows: what one server takes, every one has."""

from pathlib import Path

import pytest

from airboss.errors import NotFound
from airboss.store.database import Database
from airboss.store.images import Picture, SharedImages
from tests.databases import on_postgres

pytestmark = on_postgres
ONE, OTHER = "ses_01jxxxxxxxxxxxxxxxxxxxxxxx", "ses_01jyyyyyyyyyyyyyyyyyyyyyyy"
PNG = Picture("image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
GIF = Picture("image/gif", b"GIF89a")


async def test_what_one_server_takes_another_one_has(database: Database, tmp_path: Path) -> None:
    here, there = (SharedImages(tmp_path / name, database) for name in ("here", "there"))
    names = await here.save(ONE, "prm_1", [PNG, GIF])
    assert names == ["prm_1.1.png", "prm_1.2.gif"]
    assert await here.save(ONE, "prm_1", [PNG, GIF]) == names, "twice is as good as once"
    await here.save(ONE, "prm_12", [GIF])
    assert await there.of(ONE, "prm_1") == [PNG, GIF]
    assert await there.read(ONE, "prm_1.1.png") == PNG
    for session, name in ((ONE, "prm_1.3.png"), (OTHER, "prm_1.1.png"), (ONE, "../x.1.png")):
        with pytest.raises(NotFound):
            await there.read(session, name)


async def test_a_copy_has_them_and_loses_them_alone(database: Database, tmp_path: Path) -> None:
    images = SharedImages(tmp_path, database)
    await images.save(ONE, "prm_1", [PNG])
    await images.copy(ONE, OTHER)
    assert await images.of(OTHER, "prm_1") == [PNG]
    await images.forget(OTHER)
    assert await images.of(OTHER, "prm_1") == []
    assert await images.of(ONE, "prm_1") == [PNG]
