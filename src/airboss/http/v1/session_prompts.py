"""Sessions over v1: what is sent to the agent, with what belongs to it."""

import asyncio
import base64
from typing import Annotated, Final, Literal

from fastapi import Response
from pydantic import BaseModel, Field, StrictInt

from airboss.errors import Invalid, TooLarge
from airboss.harness.prompts import Delivery, Extras
from airboss.http.description import refused
from airboss.http.headers import SANDBOX
from airboss.http.roles import Router
from airboss.http.services import Use, UseSessions, Who
from airboss.http.v1.callers_key import Key
from airboss.http.v1.streams import LARGEST_SEQ, RequestBody
from airboss.model.ids import PromptId
from airboss.model.numbers import whole
from airboss.model.prompt_events import PromptSelection
from airboss.service.attached import MOST_FILES
from airboss.service.callers_key import asked_with
from airboss.store.images import Picture

router = Router(prefix="/api/v1/sessions", tags=["sessions"])

_LARGEST_IMAGE: Final = 5_000_000
_LONGEST_IMAGE: Final = 7_000_000  # in base64

FileWord = Annotated[str, Field(min_length=1, max_length=4096)]
Line = Annotated[StrictInt, Field(ge=1, le=LARGEST_SEQ), whole]


class SentImage(RequestBody):
    """An image, as base64."""

    mime: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str = Field(max_length=_LONGEST_IMAGE, json_schema_extra={"format": "byte"})


class SentSelection(RequestBody):
    """A part of a file that somebody has marked. Lines count from 1."""

    path: FileWord
    text: str = Field(min_length=1, max_length=200_000)
    first_line: Annotated[Line | None, Field(alias="firstLine")] = None
    last_line: Annotated[Line | None, Field(alias="lastLine")] = None


class SendPrompt(RequestBody):
    """What the agent is to do; and, where it works already, what becomes of this request: it waits
    for its turn (`queue`), goes into the running turn (`steer`), ends that turn and comes first
    (`interrupt`), or is refused. Up to five images of up to 5 MB each are shown to the model. With
    `mode: plan` the agent only reads and shows a plan first, which a person approves. `files` are
    files and folders that the agent is pointed to: absolute, or from the session's folder on."""

    text: str = Field(min_length=1)
    delivery: Delivery = "queue"
    images: list[SentImage] = Field(default=[], max_length=5)
    mode: Literal["work", "plan"] = "work"
    files: list[FileWord] = Field(default=[], max_length=MOST_FILES)
    selection: SentSelection | None = None

    def more(self, pictures: list[Picture]) -> Extras:
        return Extras(
            pictures=pictures,
            mode="plan" if self.mode == "plan" else None,
            files=tuple(self.files),
            selection=self.selection and PromptSelection(**self.selection.model_dump()),
        )


class PromptReceipt(BaseModel):
    """The request is on disk. `redacted` counts the secrets that were taken out of it."""

    prompt: PromptId
    seq: int
    redacted: int


@router.post(
    "/{session}/prompts",
    status_code=202,
    responses={
        413: refused("The text is too long."),
        422: refused(
            "An image is not base64, is not what its `mime` says, or is too large; a file does not "
            "exist or is outside the roots; or the model does not see images."
        ),
    },
)
async def send_prompt(
    session: str, asked: SendPrompt, sessions: UseSessions, who: Who, use: Use, key: Key = None
) -> PromptReceipt:
    """Send a message. It is on disk when this returns. A steering message is read between two steps
    of the agent (`prompt.steered`). If the turn ends first, it becomes a turn of its own. With an
    `Idempotency-Key`, it is sent once however often you repeat it, on whatever server."""
    most = use.status.settings.max_body_bytes
    if len(asked.text.encode("utf-8", "replace")) >= most:
        raise TooLarge(f"The text of a request has up to {most} bytes here.")
    pictures = await asyncio.to_thread(_pictures, asked.images)
    more = asked.more(pictures)
    with asked_with(key):
        receipt = await sessions.prompt(session, asked.text, who, asked.delivery, more)
    return PromptReceipt(prompt=receipt.prompt, seq=receipt.seq, redacted=receipt.redacted)


@router.get("/{session}/images/{image}", response_class=Response)
async def show_image(session: str, image: str, use: Use) -> Response:
    """Return an image of a message, as it was sent."""
    await use.sessions.show(session)
    picture = await use.sessions.picture(session, image)
    headers = {"Content-Security-Policy": SANDBOX, "Cache-Control": "private, max-age=3600"}
    return Response(picture.data, headers=headers, media_type=picture.mime)


def _pictures(images: list[SentImage]) -> list[Picture]:
    pictures: list[Picture] = []
    for number, image in enumerate(images, start=1):
        try:
            picture = Picture(image.mime, base64.b64decode(image.data, validate=True))
        except ValueError:  # also for letters beyond ASCII
            raise Invalid(f"Image {number} is not base64.") from None
        if len(picture.data) > _LARGEST_IMAGE:
            raise Invalid(f"Image {number} is too large: an image has up to 5 MB.")
        if not picture.is_what_it_says:
            raise Invalid(f"Image {number} is not {image.mime}.")
        pictures.append(picture)
    return pictures
