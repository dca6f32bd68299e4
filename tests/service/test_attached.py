"""What people attach: images are for models that see them."""

from pathlib import Path

import pytest

from airboss.errors import Invalid
from airboss.harness.prompts import Extras
from airboss.provider_settings import Provider, ProviderModel
from airboss.service.attached import must_be_seen
from airboss.store.images import Picture
from tests.contract.test_v1_images import png
from tests.service.house import ME, house_in


def test_an_image_for_a_model_that_sees_none_is_refused() -> None:
    with pytest.raises(Invalid, match=r"/w/a\.PNG is an image, and the model blind does not see"):
        must_be_seen(Extras(files=("/w/a.txt", "/w/a.PNG")), "blind", False)
    # Where nobody knows, and where it sees, it is sent.
    for sees in (None, True):
        must_be_seen(Extras(files=("/w/a.PNG",)), "other", sees)
    must_be_seen(Extras(files=("/w/a.txt",)), "blind", False)


async def test_a_session_on_a_model_that_sees_nothing_takes_no_image(tmp_path: Path) -> None:
    blind = ProviderModel(id="blind", vision=False)
    provider = Provider(name="house", base_url="http://127.0.0.1:9/v1", models=(blind,))
    async with house_in(tmp_path, providers=(provider,)) as house:
        session = (await house.sessions.start("house/blind", str(house.work), ME)).id
        (house.work / "a.png").write_bytes(png())
        picture = Picture("image/png", png())
        for more in (Extras(pictures=[picture]), Extras(files=("a.png",))):
            with pytest.raises(Invalid, match="the model house/blind does not see images"):
                await house.sessions.prompt(session, "Look.", ME, more=more)
        assert "prompt.accepted" not in await house.kinds(session)
