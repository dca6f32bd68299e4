"""What tools and hooks answer: small frozen objects, checked when they are made."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

ResultType: TypeAlias = Literal["success", "failure", "rejected", "denied"]
Handling: TypeAlias = Literal["retry", "skip", "abort"]

_MIME_TYPE = re.compile(r"image/[a-z0-9.+-]{1,40}")
_BEGINNINGS: Mapping[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that see. Without `mime_type`, PNG, JPEG, GIF and WebP are told by what
    they begin with."""

    data: bytes = field(repr=False)
    mime_type: str = ""

    def __post_init__(self) -> None:
        _only_bytes(self.data)
        found = self.mime_type or next(
            (kind for kind, begin in _BEGINNINGS.items() if begin.match(self.data)), ""
        )
        if not found:
            raise ValueError("Image: its kind is not recognized; pass mime_type='image/…'")
        if not _MIME_TYPE.fullmatch(found):
            raise ValueError(f"Image: mime_type= should be like 'image/png', not {found!r}")
        object.__setattr__(self, "mime_type", found)


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool came to: the text that the agent reads, how it went, and images to look at.

    `rejected` makes the agent stop its turn. From a hook, it takes the place of a tool's result.
    """

    text: str
    type: ResultType = "success"
    images: Sequence[Image] = ()

    def __post_init__(self) -> None:
        _only_text("Result", self.text)
        if self.type not in get_args(ResultType):
            known = ", ".join(get_args(ResultType))
            raise ValueError(f"Result: the type should be one of {known}, not {self.type!r}")
        _only_images(self.images)
        if self.images and self.type != "success":
            raise ValueError(f"Result: only a success has images, and this is a {self.type}")
        object.__setattr__(self, "images", tuple(self.images))


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is not made. The agent reads why."""

    why: str

    def __post_init__(self) -> None:
        _only_text("Deny", self.why)


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides about the call, and reads why."""

    why: str

    def __post_init__(self) -> None:
        _only_text("Ask", self.why)


@dataclass(frozen=True, slots=True)
class Allow:
    """Nobody needs to be asked about the call. It widens no rule and no policy that says no."""

    why: str = ""

    def __post_init__(self) -> None:
        _only_text("Allow", self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Another prompt, or other arguments: they take the place of all that were given."""

    prompt: str | None = None
    arguments: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if (self.prompt is None) == (self.arguments is None):
            raise TypeError("Change: give either prompt= or arguments=")
        if self.prompt is not None:
            _only_text("Change", self.prompt)
        elif not isinstance(self.arguments, Mapping):
            raise TypeError("Change: arguments= should be a dict, with the names of the parameters")


@dataclass(frozen=True, slots=True)
class Context:
    """Something that the agent reads beside the rest, and people do not see as a message."""

    text: str

    def __post_init__(self) -> None:
        _only_text("Context", self.text)


@dataclass(frozen=True, slots=True)
class Notify:
    """A message to the people who watch the session."""

    text: str

    def __post_init__(self) -> None:
        _only_text("Notify", self.text)


Answer: TypeAlias = Result | Deny | Ask | Allow | Change | Context | Notify | str


def _only_text(name: str, given: object) -> None:
    if not isinstance(given, str):
        raise TypeError(f"{name}: the text should be a str, not {type(given).__name__}")


def _only_bytes(given: object) -> None:
    if not isinstance(given, bytes):
        raise TypeError(f"Image: the data should be bytes, not {type(given).__name__}")


def _only_images(given: object) -> None:
    is_list = isinstance(given, list | tuple)
    if not is_list or not all(isinstance(one, Image) for one in cast("list[object]", given)):
        raise TypeError("Result: images= should be a list of Image")
