"""Images that a person puts into a request reach the model, by the real runtime."""

import base64
import json

import pytest

from airboss.model.ids import PromptId
from airboss.model.views import QueuedPrompt
from airboss.runtime.attachments import attachments_of, blobs
from airboss.store.images import Picture
from tests.contract.test_v1_images import png
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio


@pytest.fixture
def pictures() -> list[Picture]:
    return [Picture("image/png", png()), Picture("image/png", png(9))]


async def test_the_models_service_gets_the_images(
    flight: Flight, listener: Listener, pictures: list[Picture]
) -> None:
    session = await flight.session(listener)
    await session.send("say what you see", blobs(pictures))
    await listener.until_over()
    asked = json.dumps(flight.stage.requests[-1]["messages"])
    for picture in pictures:
        data = base64.b64encode(picture.data).decode()
        assert f"data:image/png;base64,{data}" in asked
    await session.close()


def test_a_request_without_images_is_sent_as_ever() -> None:
    asked = QueuedPrompt(prompt=PromptId("pro_1"), text="hello")
    assert attachments_of(asked) is None
