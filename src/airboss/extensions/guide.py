"""What an agent is told about writing an extension."""

from typing import Final

GUIDE: Final = '''How to write an extension

1. extensions_manage {"operation": "scaffold", "name": "my-extension"} writes
   .github/extensions/my-extension/extension.py ("language": "javascript" for extension.mjs,
   "location": "user" for all repositories of this user).
2. Edit that file.
3. extensions_reload {} starts it. A person is asked first whether they trust it. Its tools can be
   used in the same turn.
4. extensions_manage {"operation": "inspect", "name": "my-extension"} shows its state and its last
   words when it failed.

A whole extension in Python (standard library and its own folder only):

    from typing import Annotated
    from airboss.extension import Call, Context, Deny, Result, ToolUse, hook, session, tool

    @tool
    async def ticket(number: Annotated[int, "its number"]) -> str:
        """What the agent reads about the tool."""
        await session.log(f"looking for {number}")
        return f"Ticket {number}: closed"

    @hook.pre_tool_use(tools=["bash"])
    def no_push(use: ToolUse) -> Deny | None:
        if "git push" in str(use.arguments.get("command", "")):
            return Deny("Pushing is done by people here.")
        return None

- Parameters may be str, int, float, bool, Literal["a", "b"], list[T], dict[str, T], T | None,
  Annotated[T, "text"]. A bare list or dict is refused.
- A tool returns text, anything that JSON can say, or Result(text, type="failure"). To look at
  images: Result(text, images=[Image(data)]), with the bytes of a PNG, JPEG, GIF or WebP.
- Hooks: user_prompt_submitted, pre_tool_use, post_tool_use, post_tool_use_failure, session_start,
  session_end, error_occurred. They return nothing, or Deny, Ask, Allow, Change, Context, Result.
- print goes to the extension's log. Names of tools: letters, digits, _ and -, used by nobody else.
- A hook before a tool that is late (15 s) or fails refuses the call.

In JavaScript: import { joinSession } from "@github/copilot-sdk/extension", then
await joinSession({ tools: [{ name, description, parameters, handler }], hooks: { onPreToolUse } }).
Write nothing to standard output; use session.log().
'''
