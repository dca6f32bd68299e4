"""What was said, over v1: looked for by words."""

from typing import Annotated

from fastapi import Query

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.service.history import HIT_CURSOR, HitPage

router = Router(prefix="/api/v1", tags=["history"])


@router.get("/search", responses={422: refused("There is no word and no number in it.")})
async def search(
    use: Use,
    text: Annotated[str, Query(min_length=1, max_length=400)],
    cursor: Annotated[
        str | None, Query(pattern=HIT_CURSOR, description="A page's `next_cursor`.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> HitPage:
    """In the transcripts of all sessions, task runs and runs: prompts, messages, reasoning, tools'
    arguments and outputs, decisions. All words must be in one text, or words that begin so, in
    whatever case. Newest first; a cursor stays true while more is said."""
    return await use.history.search(text, cursor, limit)
