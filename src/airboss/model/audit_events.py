"""Who did what to this server, from where: the stream `audit`, which no request changes."""

from typing import Final, Literal, TypeAlias

from airboss.model.ids import ItemId, RuleId, SessionId, SignInId
from airboss.model.inbox_events import ItemOutcome
from airboss.model.roles import Role
from airboss.model.words import Frozen, Words

AUDIT: Final = "audit"

# By a page that is signed in, by our command line, by any other program, or by the server itself.
Via: TypeAlias = Literal["page", "cli", "api", "server"]


class Actor(Frozen):
    """Who acts. The name is that of the token; without one nobody was recognised."""

    who: Words | None = None
    address: Words | None = None
    via: Via


class TokenFacts(Frozen):
    """What is known of a named token, which is not the token itself."""

    name: Words
    role: Role
    until: int | None = None


class ServerStarted(Frozen):
    """A server began, with these settings: those that are not as they are without being set."""

    kind: Literal["audit.server.started"] = "audit.server.started"
    by: Actor
    version: Words
    policy: Words
    # As JSON.
    settings: Words
    needs_token: bool
    tokens: tuple[TokenFacts, ...]


class ServerStopped(Frozen):
    """A server was asked to end: by somebody, or by a signal."""

    kind: Literal["audit.server.stopped"] = "audit.server.stopped"
    by: Actor


class BrowserSignedIn(Frozen):
    """A browser was let in by a one-time code."""

    kind: Literal["audit.signed-in"] = "audit.signed-in"
    by: Actor
    sign_in: SignInId
    device: Words
    until: int


class BrowserSignedOut(Frozen):
    """A sign-in ended: by its own browser, by somebody else, or with its token or its time."""

    kind: Literal["audit.signed-out"] = "audit.signed-out"
    by: Actor
    sign_in: SignInId
    name: Words
    why: Literal["asked", "replaced", "token-gone", "time"]


class RequestRefused(Frozen):
    """Requests that were not let in. The first is told at once; those like it that follow within a
    minute are counted, and told together."""

    kind: Literal["audit.refused"] = "audit.refused"
    by: Actor
    code: Words
    # Of the first of them; left out where they were of many kinds.
    status: int | None = None
    method: Words | None = None
    path: Words | None = None
    count: int = 1


class ItemDecided(Frozen):
    """Somebody approved, denied or answered. What was said is in the session's own stream."""

    kind: Literal["audit.decided"] = "audit.decided"
    by: Actor
    item: ItemId
    session: SessionId
    outcome: ItemOutcome
    about: Words


class RulesChanged(Frozen):
    """A rule was added or removed, or the rules were put in another order."""

    kind: Literal["audit.rules.changed"] = "audit.rules.changed"
    by: Actor
    change: Literal["added", "removed", "arranged"]
    rule: RuleId | None = None
    text: Words = ""


class TrustChanged(Frozen):
    """Files or folders that are trusted from now on, or no longer."""

    kind: Literal["audit.trust.changed"] = "audit.trust.changed"
    by: Actor
    change: Literal["trusted", "distrusted"]
    paths: tuple[Words, ...]
    digest: Words | None = None


class SettingChanged(Frozen):
    """A setting was changed, or is again what the file or its default says."""

    kind: Literal["audit.setting.changed"] = "audit.setting.changed"
    by: Actor
    change: Literal["changed", "reset"]
    name: Words
    # As JSON.
    value: Words
    before: Words


class TokenChanged(Frozen):
    """A named token came, went, or got another role or end."""

    kind: Literal["audit.token.changed"] = "audit.token.changed"
    by: Actor
    change: Literal["added", "removed", "changed"]
    token: TokenFacts
    # When it was done; where no server ran, that is before it is told here.
    changed_at: int


class SecretChanged(Frozen):
    """A secret was put in, or is no longer kept. What it is, is nowhere but where it is kept."""

    kind: Literal["audit.secret.changed"] = "audit.secret.changed"
    by: Actor
    change: Literal["kept", "removed"]
    name: Words
    place: Words


class SourceChanged(Frozen):
    """A provider of models or an account was added, changed or removed while a server ran."""

    kind: Literal["audit.source.changed"] = "audit.source.changed"
    by: Actor
    change: Literal["added", "changed", "removed"]
    source: Literal["provider", "account"]
    name: Words
    # Where it is and what it offers, in words; never the key.
    about: Words = ""


class EntryInstalled(Frozen):
    """Another entry is in use until the server ends."""

    kind: Literal["audit.entry.installed"] = "audit.entry.installed"
    by: Actor
    source: Words
    digest: Words
    path: Words | None = None


class EntryWritten(Frozen):
    """Somebody saved an entry's file. `before` is the digest of the version that was replaced;
    without one there was no file."""

    kind: Literal["audit.entry.written"] = "audit.entry.written"
    by: Actor
    path: Words
    digest: Words | None = None
    before: Words | None = None


class ExtensionChanged(Frozen):
    """An extension was created, turned off, or turned on again. What is trusted is told apart."""

    kind: Literal["audit.extension.changed"] = "audit.extension.changed"
    by: Actor
    change: Literal["created", "enabled", "disabled"]
    name: Words
    scope: Literal["project", "user"]
    path: Words


class Deleted(Frozen):
    """A session or a run was deleted for good, with all that was said in it."""

    kind: Literal["audit.deleted"] = "audit.deleted"
    by: Actor
    stream: Words


class AuditTrimmed(Frozen):
    """What is older than `keep_audit_days` was deleted from this stream."""

    kind: Literal["audit.trimmed"] = "audit.trimmed"
    by: Actor
    keep_days: float
    before: int
    count: int


AuditEvent: TypeAlias = (
    ServerStarted
    | ServerStopped
    | BrowserSignedIn
    | BrowserSignedOut
    | RequestRefused
    | ItemDecided
    | RulesChanged
    | TrustChanged
    | SettingChanged
    | TokenChanged
    | SecretChanged
    | SourceChanged
    | EntryInstalled
    | EntryWritten
    | ExtensionChanged
    | Deleted
    | AuditTrimmed
)
