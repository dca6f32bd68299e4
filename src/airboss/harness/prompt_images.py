"""The images of one session's requests."""

from dataclasses import dataclass

from airboss.model.events import PromptImage
from airboss.model.ids import PromptId, SessionId
from airboss.store.images import Images, Picture, Pictures


@dataclass(frozen=True)
class PromptImages:
    session: SessionId
    images: Images | None = None

    async def add(self, prompt: PromptId, pictures: Pictures) -> tuple[PromptImage, ...] | None:
        """On disk before the request is: one that names them has them."""
        if not pictures or self.images is None:
            return None
        names = await self.images.save(self.session, prompt, pictures)
        return tuple(
            PromptImage(id=name, mime=picture.mime, bytes=len(picture.data))
            for name, picture in zip(names, pictures, strict=True)
        )

    async def of(self, prompt: PromptId | None) -> list[Picture]:
        if prompt is None or self.images is None:
            return []
        return await self.images.of(self.session, prompt)
