"""What a session may do, by policy and by rules. An unclear or unknown
request, or an error, is a no.

Of the rules the first that matches speaks; they narrow every policy, and widen `ask` only. Where
secrets of the server lie, an allowing one counts only if it names the very file.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from airboss.harness.protected import NOTHING, Protected, Touched, is_inside, names
from airboss.harness.rules import MORE, UNDERSTOOD, first, paths_of, suggest
from airboss.model.events import PermissionDecided
from airboss.model.excerpt import excerpt
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule, Rule
from airboss.runtime.frames import TOO_LARGE
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.settings import Policy

# The kinds that are about files; which ones a command touches can be told in part only.
_OF_FILES: Final = frozenset({"read", "write", "shell"})
# A file as it will be; the change that leads to it is told as well.
_UNSEEN: Final = frozenset({"newFileContents", "fileEdits"})
_EVERYTHING: Final = ("policy approve-all", "policy caged")
# Of files that links lead to.
_MOST_SHOWN: Final = 3
_BY_A_SERVER: Final = "This tool's MCP server runs outside of the cage."
_BY_AIRBOSS: Final = "Airboss does this itself, outside of the cage."
_HOW_TO_ALLOW: Final = "To be asked instead, restart Airboss with --permissions ask."


@dataclass(frozen=True)
class MustAsk:
    """A person has to decide, and this is why."""

    why: str


@dataclass(frozen=True)
class Ruling:
    """What policy and rules come to, and which of them spoke."""

    answer: PermissionAnswer | MustAsk
    by: str
    rule: Rule | None = None


Rules: TypeAlias = Sequence[KeptRule]


@dataclass(frozen=True)
class PolicyRule:
    """One policy, applied to one session's working directory. The server's can be changed by a
    restart; one that was `given` to the session cannot."""

    policy: Policy
    cwd: Path
    given: bool = False
    # Where secrets of the server lie: `ask` asks for what is read or changed there, `read-only`
    # refuses it.
    protected: Protected = NOTHING
    # What belongs to this session alone, as real paths: read without asking wherever it lies, also
    # inside a protected place.
    own: tuple[Path, ...] = ()
    # Folders beside the working directory, as real paths: read like it.
    directories: tuple[Path, ...] = ()
    # Whether the session works in a cage: `caged` allows everything there, and elsewhere it is no
    # more than `ask`.
    is_caged: bool = False
    # The MCP servers of a caged session that run outside of its cage.
    outside: tuple[str, ...] = ()

    def decide(self, request: PermissionRequest, rules: Rules = ()) -> Ruling:
        by = f"policy {self.policy}"
        if self.policy == "deny-all":
            return Ruling(self._refuse("The policy deny-all refuses every request."), by)
        if request.kind not in UNDERSTOOD:
            no = f"Airboss does not know what “{request.kind}” does, so it is refused."
            return Ruling(PermissionAnswer(False, no), by)
        about = _About(request, self)
        kept = about.speaking(rules)
        if kept is not None:
            spoken = self._by_rule(kept, about)
            if spoken is not None:
                return Ruling(_with_links(spoken, about), f"rule {kept.id}", kept.rule)
        return Ruling(_with_links(self._by_policy(about), about), by)

    def has_rule(self, request: PermissionRequest, rules: Rules) -> bool:
        """Whether one of them speaks for the request."""
        return _About(request, self).speaking(rules) is not None

    def may_be_widened(self, request: PermissionRequest) -> bool:
        """Whether an extension's yes counts where this policy wants a person to be asked: not where
        secrets of the server are touched, not for what runs outside of the cage, and not for more
        than the deed itself."""
        about, is_more = _About(request, self), any(request.raw.get(name) for name in MORE)
        is_asking = self.policy in ("ask", "caged")
        return is_asking and not is_more and not about.touched and not about.is_outside

    def suggest(self, request: PermissionRequest, redactor: Redactor) -> Rule | None:
        """The rule that “always allow this” writes down, where it would count."""
        rule = suggest(request, self.cwd, redactor)
        return rule if rule and _About(request, self).lets_speak(rule) else None

    def _by_rule(self, kept: KeptRule, about: "_About") -> PermissionAnswer | MustAsk | None:
        """None where a rule would widen what is no more than reading: the policy speaks then."""
        match kept.rule.verdict, self.policy:
            case "deny", _:
                return PermissionAnswer(False, f"A rule of {kept.who} refuses it.")
            case "allow", "ask" | "caged" | "approve-all":
                return PermissionAnswer(True, f"A rule of {kept.who} allows it.")
            case "ask", _ if not self._refuses(about):
                return MustAsk(f"A rule of {kept.who} requires approval.")
            case _:
                return None

    def _refuses(self, about: "_About") -> bool:
        answer = self._by_policy(about)
        return isinstance(answer, PermissionAnswer) and not answer.allowed

    def _by_policy(self, about: "_About") -> PermissionAnswer | MustAsk:
        if about.is_outside and self.policy in ("ask", "caged", "approve-all"):
            is_server = about.request.kind == "mcp"
            return MustAsk(_BY_A_SERVER if is_server else _BY_AIRBOSS)
        if self.policy == "approve-all":
            return PermissionAnswer(True, "The policy approve-all allows it.")
        asks = self.policy in ("ask", "caged")
        if self.policy == "caged" and self.is_caged:
            return PermissionAnswer(True, "The policy caged allows it inside the cage.")
        kind, allows = about.request.kind, f"The policy {self.policy} allows reading"
        if kind == "read" and about.touched:
            reason = f"{allows}, but not in {about.touched[0].place}, which contains secrets."
            return MustAsk(reason) if asks else self._refuse(reason)
        if kind == "read" and about.is_free:
            return PermissionAnswer(True, f"{allows} below the folder.")
        if asks:
            return MustAsk(f"{allows} below {self.cwd}; everything else needs approval.")
        if kind != "read":
            return self._refuse(f"{allows}, and this is “{kind}”.")
        return self._refuse(f"{allows} below {self.cwd} only.")

    def _refuse(self, reason: str) -> PermissionAnswer:
        return PermissionAnswer(False, reason if self.given else f"{reason} {_HOW_TO_ALLOW}")


@dataclass(frozen=True)
class _About:
    """The files that a request is about; looked up when they count, and once."""

    request: PermissionRequest
    rule: PolicyRule

    @property
    def is_outside(self) -> bool:
        """Whether it is done outside of the session's cage, or may be: by the server itself, or by
        an MCP server that runs there."""
        if self.request.on_host:
            return self.rule.is_caged
        if self.request.kind != "mcp" or not self.rule.outside:
            return False
        name = self.request.raw.get("serverName")
        return not isinstance(name, str) or name in self.rule.outside

    @cached_property
    def paths(self) -> tuple[str | None, ...]:
        return paths_of(self.request, self.rule.cwd)

    @property
    def is_free(self) -> bool:
        """Whether they all lie below the working directory or one beside it, or are the session's
        own."""
        free = (self.rule.cwd, *self.rule.directories, *self.rule.own)
        inside = (path is not None and is_inside(Path(path), free) for path in self.paths)
        return bool(self.paths) and all(inside)

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        """The protected places that it would touch. Of a command its words tell some of them, and
        not what it goes through from above."""
        if self.request.kind not in _OF_FILES:
            return ()
        found = self.rule.protected.touched(self.paths, self.rule.own)
        return tuple(one for one in found if not (one.above and self.request.kind == "shell"))

    @property
    def elsewhere(self) -> list[str]:
        """Where links lead out of the working directory: who only sees the names does not know."""
        if self.request.kind == "shell":
            return []
        said = {os.path.normpath(self.rule.cwd / path) for path in self.request.paths}
        found = [path for path in self.paths if path is not None and path not in said]
        return [path for path in found if not Path(path).is_relative_to(self.rule.cwd)]

    def speaking(self, rules: Rules) -> KeptRule | None:
        may_speak = [kept for kept in rules if self.lets_speak(kept.rule)]
        return first(may_speak, self.request, self.rule.cwd)

    def lets_speak(self, rule: Rule) -> bool:
        """One that allows must name what is protected."""
        if rule.verdict != "allow" or not self.touched:
            return True
        return names(rule, self.request, self.touched, self.rule.cwd)


def _with_links(answer: PermissionAnswer | MustAsk, about: _About) -> PermissionAnswer | MustAsk:
    """A person who is asked is told where links lead."""
    if not isinstance(answer, MustAsk) or not about.elsewhere:
        return answer
    places = ", ".join(about.elsewhere[:_MOST_SHOWN])
    return MustAsk(f"A link leads to {places}. {answer.why}")


def unread(request: PermissionRequest, ruling: Ruling) -> Ruling | None:
    """What holds for a request that was too long to be read whole: nobody decides about what is not
    seen. What a file becomes may be, where nobody looks at it, or the change itself is there."""
    seen = _UNSEEN | {"diff"} if ruling.by in _EVERYTHING else _UNSEEN
    return Ruling(PermissionAnswer(False, TOO_LARGE), "size") if request.gaps - seen else None


def record(
    requested: PermissionRequest,
    answer: PermissionAnswer,
    by: str,
    redactor: Redactor,
    rule: Rule | None = None,
) -> PermissionDecided:
    """What was decided, as it is written down."""
    return PermissionDecided(
        request=requested.request_id,
        wish=requested.kind,
        about=excerpt(redactor, requested.about),
        allowed=answer.allowed,
        by=by,
        reason=answer.reason,
        call=requested.call,
        rule=rule,
    )
