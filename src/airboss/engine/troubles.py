"""What went wrong in Airboss itself, as seed 001 tells it: name, message, stack and cause."""

import logging
import traceback
from typing import TypedDict

from airboss.errors import AirbossError
from airboss.model.redaction import Redactor

_log = logging.getLogger(__name__)


class Detail(TypedDict):
    name: str
    message: str
    stack: str | None
    cause: str | None


def in_detail(error: BaseException, redactor: Redactor) -> Detail:
    """Without secrets. What nobody foresaw is in the server's log too."""
    if not isinstance(error, AirbossError):
        _log.error("A task crashed", exc_info=error)
    cause = error.__cause__
    return Detail(
        name=type(error).__name__,
        message=redactor.text(str(error)),
        stack=redactor.text("".join(traceback.format_exception(error))),
        cause=redactor.text(str(cause)) if cause else None,
    )
