/** What the server's answers and events look like. Written by `make generate`. */

/** The session goes on with another account, and with its history: `why` says what was wrong with the one before. */
export type AccountChanged = {
  "kind": "account.changed";
  "from"?: string | null;
  "to": string;
  "why": string;
};

/** In the order in which new sessions use them. Where the settings name none, it is the one that the environment or the Copilot CLI gives. */
export type AccountList = {
  "items": readonly (ShownAccount)[];
};

/** What came of it. Where it did not work, `problem` says why. */
export type AccountTrial = {
  "ok": boolean;
  "problem"?: string | null;
  "models": readonly (string)[];
};

/** Who acts. The name is that of the token; without one nobody was recognised. */
export type Actor = {
  "who"?: string | null;
  "address"?: string | null;
  "via": "page" | "cli" | "api" | "server";
};

/** An agent that the session's own may hand work to, or that the session itself is. */
export type AgentKeys = {
  "description": string;
  "prompt": string;
  "tools"?: readonly (string)[] | null;
  "model"?: string | null;
  "reasoningEffort"?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  "mcpServers"?: readonly (string)[] | null;
  "skills"?: readonly (string)[] | null;
};

/** An agent that work may be handed to. What is left out is as of the session's own agent. */
export type AgentSetup = {
  "description": string;
  "prompt": string;
  "tools"?: readonly (string)[] | null;
  "model"?: string | null;
  "reasoning_effort"?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  "mcp_servers"?: readonly (string)[] | null;
  "skills": readonly (string)[];
};

/** One way to allow more than this once: what it means in words, the rule that it comes to, and something else that the rule would allow. `until` the session or the task run ends, or for good. */
export type AlwaysOption = {
  "id": string;
  "title": string;
  "rule": Rule;
  "until"?: "session" | "task-run" | null;
  "example": string;
  "note": string;
};

/** A choice by its number or its label, words of one's own, or a form's fields as JSON. */
export type AnswerQuestion = {
  "answer": string;
};

/** The agent asks permission to do something, and a person decides. */
export type ApprovalAsked = {
  "kind": "approval.asked";
  "item": string;
  "request": string;
  "call"?: string | null;
  "wish": string;
  "tool"?: string | null;
  "title": string;
  "description": string;
  "severity": "low" | "medium" | "high";
  "risk"?: string | null;
  "subject": Subject;
  "fingerprint": string;
  "choices": readonly ("allow-once" | "allow-always" | "deny")[];
  "rule"?: Rule | null;
  "options"?: readonly (AlwaysOption)[] | null;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** From the session's history, by the session's model. */
export type Aside = {
  "answer": string;
};

/** A question beside the work was answered from the session's history, which it is no part of. Whoever asked has the answer when this is said. */
export type AsideAnswered = {
  "kind": "aside.answered";
  "who": string;
  "question": string;
  "answer": string;
};

/** A question beside the work. */
export type AskAside = {
  "question": string;
};

/** One sending of a mission's prompt, and what came of it. */
export type Attempt = {
  "mission": Mission;
  "session": string;
  "prompt": string;
  "text": string;
  "started_at": number;
  "ended_at"?: number | null;
  "outcome"?: "done" | "crashed" | "refused" | null;
  "calls": readonly (ToolCall)[];
  "reason"?: string | null;
  "usage": Usage;
  "effects"?: readonly (string)[] | null;
};

/** Newest first. Continue with `cursor=next_cursor` as long as there is one. */
export type AuditPage = {
  "items": readonly (RecordedAct)[];
  "next_cursor"?: number | null;
};

/** What is older than `keep_audit_days` was deleted from this stream. */
export type AuditTrimmed = {
  "kind": "audit.trimmed";
  "by": Actor;
  "keep_days": number;
  "before": number;
  "count": number;
};

/** The address to open in a browser. It is good for ten minutes, and for whoever asked. */
export type BegunSignIn = {
  "url": string;
};

/** A browser was let in by a one-time code. */
export type BrowserSignedIn = {
  "kind": "audit.signed-in";
  "by": Actor;
  "sign_in": string;
  "device": string;
  "until": number;
};

/** A sign-in ended: by its own browser, by somebody else, or with its token or its time. */
export type BrowserSignedOut = {
  "kind": "audit.signed-out";
  "by": Actor;
  "sign_in": string;
  "name": string;
  "why": "asked" | "replaced" | "token-gone" | "time";
};

/** The cage is gone, with everything that was started in it. */
export type CageClosed = {
  "kind": "cage.closed";
  "how": string;
  "peak_memory_mb"?: number | null;
};

/** A profile of the settings by its name, and what is to be otherwise than in it. Who may not widen what the server allows can only take away. */
export type CageKeys = {
  "profile"?: string | null;
  "read"?: readonly (string)[] | null;
  "write"?: readonly (string)[] | null;
  "hosts"?: readonly (string)[] | null;
  "unknownHosts"?: "refuse" | "ask" | null;
  "variables"?: readonly (string)[] | null;
  "memoryMb"?: number | null;
  "processes"?: number | null;
  "fileMb"?: number | null;
  "debuggers"?: boolean | null;
};

/** What is inside wanted more than its profile allows, or a wall went, and the cage ended. */
export type CageLimit = {
  "kind": "cage.limit";
  "what": string;
  "text": string;
};

/** How much what is inside may use, all together; of a file: each. */
export type CageLimits = {
  "memory_mb": number;
  "processes": number;
  "file_mb": number;
};

/** The session's agent works behind walls from here on. */
export type CageOpened = {
  "kind": "cage.opened";
  "strength": "strong" | "narrow";
  "profile": string;
  "walls": readonly (string)[];
  "limits": CageLimits;
  "git"?: boolean | null;
};

/** `[cages.NAME]` of the settings. What is inside may do everything there; nothing leaves. */
export type CageProfile = {
  "read": readonly (string)[];
  "write": readonly (string)[];
  "hosts": readonly (string)[];
  "unknown_hosts": "refuse" | "ask";
  "variables": readonly (string)[];
  "memory_mb": number;
  "processes": number;
  "file_mb": number;
  "debuggers": boolean;
};

/** The cage that a session works in: the profile by its name, and what of it holds. */
export type CageSetup = {
  "profile": string;
  "terms": CageProfile;
};

/** The cage of a session as it is now, or as it last was. */
export type CageView = {
  "strength": "strong" | "narrow";
  "profile": string;
  "walls": readonly (string)[];
  "limits": CageLimits;
  "git"?: boolean | null;
  "is_open": boolean;
  "limit"?: string | null;
  "peak_memory_mb"?: number | null;
};

/** What a request that waits is to say, or its place: 0 comes next. */
export type ChangePrompt = {
  "text"?: string | null;
  "position"?: number | null;
};

/** What people say of a run. What is left out stays. */
export type ChangeRun = {
  "title"?: string | null;
  "tags"?: readonly (string)[] | null;
};

/** What people note about a session: a name of one line, and whether it is pinned. And what it goes on with from its next turn on: a model, an effort that it offers, permissions, and one of its agents. */
export type ChangeSession = {
  "title"?: string | null;
  "pinned"?: boolean | null;
  "model"?: string | null;
  "reasoningEffort"?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  "permissions"?: "ask" | "caged" | "approve-all" | "read-only" | "deny-all" | null;
  "agent"?: string | null;
};

/** A file that the run changed, with the tasks whose agents edited it by name. */
export type ChangedFile = {
  "path": string;
  "how": "created" | "edited" | "deleted";
  "added": number;
  "removed": number;
  "tasks": readonly (string)[];
  "is_text": boolean;
};

/** All together. `source`: `trees` compares the folder's files at the run's beginning with those at its end, `edits` is what editing tools said, where there is no git or the run goes on. */
export type ChangedFiles = {
  "source": "trees" | "edits";
  "files": readonly (ChangedFile)[];
  "added": number;
  "removed": number;
  "more": boolean;
  "note": string;
};

/** All of a provider but its name. Without a key, the one that it has stays. */
export type ChangedProvider = {
  "type": "openai" | "azure" | "anthropic";
  "wire"?: "responses" | "completions" | null;
  "base_url": string;
  "private": boolean;
  "auth": "key" | "bearer";
  "headers": Record<string, string>;
  "api_version"?: string | null;
  "key"?: string | null;
  "models": readonly (ProviderModel)[];
};

/** In the order in which they were first changed. `more`: there are further files. */
export type Changes = {
  "files": readonly (FileChange)[];
  "more": boolean;
};

/** One thing the doctor looked at. */
export type Check = {
  "id": string;
  "state": "ok" | "warn" | "fail";
  "summary": string;
  "detail": string;
  "remedy": string;
  "ms": number;
};

/** Either a text with its format, or the path of a file on the server's machine. */
export type CheckEntry = {
  "text": unknown;
} | {
  "path": unknown;
};

/** The last word of a check. */
export type CheckOutcome = {
  "holds": boolean;
  "unasked": boolean;
  "attempt": number;
  "reason": string;
};

/** What a check that failed said, uncut. `seq` is its event in the stream of the task run. */
export type CheckWords = {
  "task": string;
  "task_run": string;
  "field": string;
  "attempt": number;
  "at": number;
  "seq": number;
  "text": string;
};

/** Everything that is wrong, and what there is although something is wrong. `tasks` are the names of all tasks; `jobs` are those that can be drawn. */
export type CheckedDraft = {
  "valid": boolean;
  "violations": readonly (DraftMistake)[];
  "mistakes": number;
  "ungranted": readonly (string)[];
  "tasks": readonly (string)[];
  "jobs": readonly (DraftedJob)[];
};

/** Everything that is wrong. `mistakes` counts them when there are too many to tell. */
export type CheckedEntry = {
  "valid": boolean;
  "violations": readonly (Mistake)[];
  "mistakes": number;
  "ungranted": readonly (string)[];
  "trusted": boolean;
  "tasks": number;
  "jobs": number;
};

/** What came of a command: `prompt` is what was sent to the agent, where something was; `text` is what it answers, for people. */
export type CommandDone = {
  "prompt"?: string | null;
  "seq"?: number | null;
  "text"?: string | null;
};

/** A prompt that people send by its name, behind a slash. */
export type CommandKeys = {
  "description": string;
  "prompt": string;
};

/** A command: of Airboss itself, of the session's description, or of the entry in use. `takes` says what has to stand behind it, where something has to. */
export type CommandOffer = {
  "name": string;
  "description": string;
  "source": "airboss" | "session" | "entry";
  "takes"?: string | null;
};

export type CommandOffers = {
  "items": readonly (CommandOffer)[];
};

/** A prompt that people send by its name. */
export type CommandSetup = {
  "description": string;
  "prompt": string;
};

/** What the summary is to dwell on, where somebody says so. */
export type CompactSession = {
  "instructions"?: string | null;
};

/** `before` and `after` count the tokens of the context, `removed` the messages that the summary stands for: none where there was nothing to compact. With an error, all is as it was. */
export type CompactionEnded = {
  "kind": "compaction.ended";
  "trigger": string;
  "before"?: number | null;
  "after"?: number | null;
  "removed": number;
  "error"?: string | null;
};

/** Tokens of the context before and after, and how many messages the summary stands for. Not `compacted`: there was nothing to compact, or somebody `stopped` it. */
export type CompactionResult = {
  "compacted": boolean;
  "before"?: number | null;
  "after"?: number | null;
  "removed": number;
  "stopped": boolean;
};

/** The history begins to be replaced by a summary of it. `trigger` is the runtime's word for why: `manual` where a person (`who`) asked for it, `threshold` where it has got too long. */
export type CompactionStarted = {
  "kind": "compaction.started";
  "trigger": string;
  "before"?: number | null;
  "who"?: string | null;
};

/** A check that came out differently, or after another number of attempts. */
export type ComparedCheck = {
  "name": string;
  "field": string;
  "a"?: CheckOutcome | null;
  "b"?: CheckOutcome | null;
};

/** A file that one of the runs changed and that is not the same behind both. The diff leads from what A left to what B left; it may be empty where only edits are known. */
export type ComparedFile = {
  "path": string;
  "a"?: LineCounts | null;
  "b"?: LineCounts | null;
  "diff": string;
  "cut": boolean;
};

/** One of the two, in figures. */
export type ComparedRun = {
  "id": string;
  "job": string;
  "title": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "folder": string;
  "who": string;
  "models": readonly (string)[];
  "started_at": number;
  "took_ms": number;
  "worked_ms": number;
  "task_runs": number;
  "waited_for_person_ms": number;
  "usage": Usage;
  "tasks": number;
  "tasks_succeeded": number;
  "files": number;
  "added": number;
  "removed": number;
};

/** A step in walking order, in both runs or in one of them. */
export type ComparedStep = {
  "path": string;
  "name": string;
  "a"?: StepOutcome | null;
  "b"?: StepOutcome | null;
  "differs": "none" | "outcome" | "changes";
};

/** Two runs side by side. They parted at the first step, in walking order, whose outcome or changes differ. */
export type Comparison = {
  "a": ComparedRun;
  "b": ComparedRun;
  "parted_at"?: string | null;
  "head": string;
  "text": string;
  "same": Record<string, boolean>;
  "steps": readonly (ComparedStep)[];
  "checks": readonly (ComparedCheck)[];
  "checks_in_all": number;
  "files": readonly (ComparedFile)[];
  "files_alike": number;
};

/** How long conversations may become. Shares are of what fits into the model's context. */
export type ContextKeys = {
  "infinite"?: boolean | null;
  "compactAt"?: number | null;
  "blockAt"?: number | null;
};

/** How many tokens the next request to the model has, of so many that it takes. Said when that has changed by a hundredth of the limit, not at every call. */
export type ContextMeasured = {
  "kind": "context.measured";
  "tokens": number;
  "limit": number;
};

/** When a conversation is summarized beside the work, and when the work waits for that; as shares of what fits into the model's context. What is left out is the runtime's own. */
export type ContextSetup = {
  "infinite"?: boolean | null;
  "compact_at"?: number | null;
  "block_at"?: number | null;
};

/** How many tokens the agent's context has, of so many that its model takes. */
export type ContextUse = {
  "tokens": number;
  "limit": number;
};

/** Who is signed in to Copilot, and how. `signed_in` is null until the runtime was asked. */
export type CopilotState = {
  "signed_in"?: boolean | null;
  "how": string;
  "login"?: string | null;
  "detail": string;
};

/** `words` are told to the agent with a no; of a plan, they are the changes to it, or why it is rejected. `approve` and `reject` are for plans. `option` is one of the item's `options`, by its id: what “always” means, where not the narrowest. */
export type Decide = {
  "choice": "allow-once" | "allow-always" | "deny" | "approve" | "reject";
  "words": string;
  "option"?: string | null;
};

/** A decision, and when it was made. */
export type Decision = {
  "at": number;
  "text": string;
};

/** Those of people one by one; those of rules and policies counted. */
export type DecisionsMade = {
  "people": readonly (PersonsDecision)[];
  "allowed": number;
  "denied": number;
  "by": Record<string, number>;
  "more": boolean;
};

/** A session or a run was deleted for good, with all that was said in it. */
export type Deleted = {
  "kind": "audit.deleted";
  "by": Actor;
  "stream": string;
};

/** The server's own. `same` is null where none was given to compare with. */
export type Digest = {
  "seq": number;
  "digest": string;
  "same"?: boolean | null;
};

/** What is no longer trusted. */
export type Distrusted = {
  "paths": readonly (string)[];
};

/** Every check, with what it found and what to do. */
export type DoctorReport = {
  "checks": readonly (Check)[];
  "repaired": readonly (string)[];
};

/** A violation, with what repairs it by one click, where anything does. */
export type DraftMistake = {
  "where": string;
  "reason": string;
  "hint"?: string | null;
  "line"?: number | null;
  "column"?: number | null;
  "advice"?: string | null;
  "example"?: string | null;
  "is_around": boolean;
  "excerpt": readonly (MistakeLine)[];
  "repairs": readonly (MistakeRepair)[];
};

/** A job that can be drawn. A node whose task does not exist has `broken: "no such task"`. */
export type DraftedJob = {
  "name": string;
  "work": Record<string, unknown>;
  "chart": Record<string, unknown>;
  "requireUserInput": boolean;
};

/** A machine, and whether it takes something new: `alive`, or `draining`. */
export type DrainedWorker = {
  "id": string;
  "name": string;
  "state": string;
};

/** The last connection to a host has ended; all of them are in the counts. `sent` is what left the cage, in bytes. */
export type EgressClosed = {
  "kind": "egress.closed";
  "host": string;
  "port": number;
  "connections": number;
  "sent": number;
  "received": number;
  "seconds": number;
};

/** A host is connected to. Told once for all connections that are open at the same time. */
export type EgressOpened = {
  "kind": "egress.opened";
  "host": string;
  "port": number;
  "address": string;
  "by": string;
};

/** A host was not connected to. The same, refused again soon after, is told in one count. */
export type EgressRefused = {
  "kind": "egress.refused";
  "host": string;
  "port"?: number | null;
  "why": string;
  "count": number;
};

/** An entry to begin from. `script` plays it on the rehearsal model. */
export type EntryExample = {
  "name": string;
  "title": string;
  "description": string;
  "text": string;
  "script": string;
};

/** The examples that Airboss comes with. */
export type EntryExamples = {
  "items": readonly (EntryExample)[];
};

/** An entry's file as it is now. `digest` is the SHA-256 of its bytes; there is none where the file does not exist, or may not be shown. `in_use`: the server uses exactly this version. `why_not` says in words why it cannot be written here. */
export type EntryFile = {
  "path": string;
  "exists": boolean;
  "format": "yaml" | "json" | "python";
  "text": string;
  "digest"?: string | null;
  "modified_at"?: number | null;
  "in_use": boolean;
  "writable": boolean;
  "why_not"?: string | null;
};

/** The finished entry, where it came from, and what somebody should know about it. */
export type EntryInUse = {
  "source": "built-in" | "file" | "test" | "api";
  "path"?: string | null;
  "digest": string;
  "trusted": boolean;
  "loaded_at": number;
  "problem"?: string | null;
  "mistakes": number;
  "mistaken_path"?: string | null;
  "violations": readonly (Mistake)[];
  "ungranted": readonly (string)[];
  "document": Record<string, unknown>;
};

/** Another entry is in use until the server ends. */
export type EntryInstalled = {
  "kind": "audit.entry.installed";
  "by": Actor;
  "source": string;
  "digest": string;
  "path"?: string | null;
};

/** What is wrong with the file that should be used. `mistakes` counts all of them, `path` is the file; without mistakes there is none. */
export type EntryMistakes = {
  "path"?: string | null;
  "mistakes": number;
  "violations": readonly (Mistake)[];
};

/** The entry in use, and what a person should know about it. */
export type EntryState = {
  "source": string;
  "path"?: string | null;
  "digest": string;
  "tasks": number;
  "jobs": number;
  "problem"?: string | null;
  "mistakes": number;
  "mistaken_path"?: string | null;
};

/** Somebody saved an entry's file. `before` is the digest of the version that was replaced; without one there was no file. */
export type EntryWritten = {
  "kind": "audit.entry.written";
  "by": Actor;
  "path": string;
  "digest"?: string | null;
  "before"?: string | null;
};

/** A page of a stream: go on with `after=next_after` as long as there is more. */
export type EventPage = {
  "items": readonly (RecordedEvent)[];
  "next_after": number;
  "seq": number;
  "more": boolean;
};

/** An extension was created, turned off, or turned on again. What is trusted is told apart. */
export type ExtensionChanged = {
  "kind": "audit.extension.changed";
  "by": Actor;
  "change": "created" | "enabled" | "disabled";
  "name": string;
  "scope": "project" | "user";
  "path": string;
};

/** All that a person reads before trusting it. `diff` is against what was trusted, if it has changed since. `left_out` names the files of which not all is shown here: who trusts it reads them in its folder. `tools` and `hooks` are those of the sessions in which it runs. */
export type ExtensionDetails = {
  "name": string;
  "scope": "project" | "user";
  "language": "python" | "javascript";
  "path": string;
  "digest": string;
  "state": "ready" | "untrusted" | "changed" | "disabled" | "shadowed" | "failed";
  "reason": string;
  "on_host": boolean;
  "files": readonly (ExtensionText)[];
  "diff": string;
  "left_out": readonly (string)[];
  "tools": readonly (string)[];
  "hooks": readonly (string)[];
  "sessions": readonly (ExtensionRun)[];
  "log": string;
};

/** Its process has ended, or was ended. It starts again after `restart_in` seconds, where that is said. */
export type ExtensionEnded = {
  "kind": "extension.ended";
  "name": string;
  "reason": string;
  "crashed": boolean;
  "restart_in"?: number | null;
};

/** One of its hooks had an effect. Late or failed, it had none: what it was asked about went on, but for a call of a tool, which was refused. */
export type ExtensionHooked = {
  "kind": "extension.hooked";
  "name": string;
  "hook": string;
  "tool"?: string | null;
  "outcome": "changed" | "context" | "denied" | "asked" | "allowed" | "late" | "failed";
  "text": string;
};

/** The project's first, then the user's, each by name. */
export type ExtensionList = {
  "items": readonly (ListedExtension)[];
};

/** It may not work in this session: it was not started, or not let in. */
export type ExtensionRefused = {
  "kind": "extension.refused";
  "name": string;
  "reason": string;
};

/** One process of it: its session, and the end of what it wrote to its standard error. */
export type ExtensionRun = {
  "session": string;
  "state": string;
  "tools": readonly (string)[];
  "hooks": readonly (string)[];
  "reason": string;
  "log": string;
};

/** A line that it wants people to see. */
export type ExtensionSaid = {
  "kind": "extension.said";
  "name": string;
  "level": "info" | "warning" | "error";
  "text": string;
};

/** An extension has joined the session. `hooks` are the moments at which it is asked. */
export type ExtensionStarted = {
  "kind": "extension.started";
  "name": string;
  "scope": "project" | "user";
  "language": "python" | "javascript";
  "digest": string;
  "tools": readonly (string)[];
  "hooks": readonly (string)[];
};

/** Whether it runs in sessions that start or reload from now on. Kept by its path. */
export type ExtensionSwitch = {
  "cwd"?: string | null;
  "enabled": boolean;
};

/** A file of it; `text` is null for what is no text, or too long to be shown. */
export type ExtensionText = {
  "path": string;
  "bytes": number;
  "text"?: string | null;
};

/** An extension as it is now. `reason` says why it cannot be trusted: then it is left out. */
export type ExtensionToTrust = {
  "name": string;
  "path": string;
  "digest": string;
  "files": readonly (FileToTrust)[];
  "reason": string;
};

/** `build`: of which build the server's pages are. */
export type FeedBuild = {
  "build": string;
};

/** `changed`: which streams have changed. */
export type FeedChanges = {
  "streams": readonly (string)[];
};

/** `end`, with the last seq of a stream that is over; or `gone`: there is none of that name. */
export type FeedEnd = {
  "stream": string;
  "seq"?: number | null;
};

/** An event with the stream that it is of. */
export type FeedEvent = {
  "seq": number;
  "at": number;
  "event": SessionOpened | SessionReady | SessionResumed | SessionInterrupted | SessionClosed | SessionRenamed | SessionPinned | SessionError | SessionIdle | PromptAccepted | PromptChanged | PromptMoved | PromptSteered | PromptDropped | AsideAnswered | TurnStarted | TurnRetrying | TurnUsage | TurnEnded | PermissionDecided | ReasoningStarted | ReasoningDelta | ReasoningEnded | MessageStarted | MessageDelta | MessageEnded | ToolStarted | ToolDelta | ToolEnded | TaskAccepted | TaskWaiting | TaskGoing | TaskSessionStarted | TaskSessionFailed | TaskSessionStopped | MissionSent | MissionEnded | TaskChecked | TaskRetrying | RetryDecided | TaskDecided | TaskError | TaskEnded | RunAccepted | RunResumed | RunPlaced | RunMoved | RunRetried | WorkStarted | WorkWaiting | WorkGoing | WorkRetrying | WorkStopped | WorkCut | RunEnding | RunError | RunTreeKept | RunRenamed | RunTagged | RunEnded | ApprovalAsked | QuestionAsked | LimitReached | PlanAsked | SwitchAsked | SignInAsked | ItemSettled | InboxArrived | InboxSettled | ContextMeasured | CompactionStarted | CompactionEnded | SessionChanged | SessionRestarted | SessionForked | SubAgentStarted | SubAgentSaid | SubAgentEnded | SkillInvoked | McpChanged | LoopNoticed | ToolVetoed | HookRan | ToolWaiting | ToolGoing | AccountChanged | CageOpened | CageClosed | CageLimit | EgressOpened | EgressClosed | EgressRefused | ExtensionStarted | ExtensionEnded | ExtensionRefused | ExtensionSaid | ExtensionHooked | ServerStarted | ServerStopped | BrowserSignedIn | BrowserSignedOut | RequestRefused | ItemDecided | RulesChanged | TrustChanged | SettingChanged | TokenChanged | SecretChanged | SourceChanged | EntryInstalled | EntryWritten | ExtensionChanged | Deleted | AuditTrimmed;
  "stream": string;
};

/** `caught-up` or `heartbeat`: up to which seq each stream was told. `lists`, of `caught-up`: a list whose answer had this `X-Airboss-Lists`, or a larger one, misses nothing. `database_ms`, of `heartbeat`: how long ago a database that several machines share last answered this server. */
export type FeedProgress = {
  "streams": Record<string, number>;
  "at"?: number | null;
  "lists"?: number | null;
  "database_ms"?: number | null;
};

/** A field that was looked at. */
export type FieldCheck = {
  "at": number;
  "field": "availability.previousTasks" | "availability.condition" | "criteria.toolExecuted" | "criteria.condition";
  "round": number;
  "holds": boolean;
  "content": string;
  "reason": string;
  "unasked": boolean;
};

/** A file, and what was changed in it: every edit as hunks, in order. The lines of a hunk are counted as they were at that edit. `cut`: there is more than the diff shows, and it is counted too; but of a text over 2 MiB, and of a patch for several files that is kept in part, only the kept lines are. */
export type FileChange = {
  "path": string;
  "how": "created" | "edited" | "deleted";
  "added": number;
  "removed": number;
  "diff": string;
  "cut": boolean;
};

/** Paths from the folder on, the best first. `more`: there are others that fit, or files that were not looked at. */
export type FileNames = {
  "items": readonly (string)[];
  "more": boolean;
};

/** A file as it is now; `text` is null where it is too long to be shown. */
export type FileToTrust = {
  "path": string;
  "digest": string;
  "bytes": number;
  "text"?: string | null;
};

/** What the authorization server added to the address that the browser came back to. */
export type FinishSignIn = {
  "state": string;
  "code"?: string | null;
  "error"?: string | null;
  "iss"?: string | null;
};

/** The server that lets the sessions in now, and the session that it was asked for. */
export type FinishedSignIn = {
  "session": string;
  "server": string;
};

/** The request before which the copy ends; without one, all of the session is copied. With other permissions the copy enters a cage (`caged`), or leaves it (all others). */
export type ForkSession = {
  "before"?: string | null;
  "permissions"?: "ask" | "caged" | "approve-all" | "read-only" | "deny-all" | null;
};

/** How much the session may use. What is left out has no limit. */
export type GivenLimits = {
  "turns"?: number | null;
  "tokens"?: number | null;
  "cost"?: number | null;
  "minutes"?: number | null;
  "idle_minutes"?: number | null;
};

/** A limit that was reached, and a person said: go on. */
export type Granted = {
  "scope": string;
  "limit": string;
  "upto"?: number | null;
};

/** An event in which something was found. `of` says what its stream is of, and `name` what a person knows that by: a session's title, a job's or a task's name. Of a task of a run, `work` is its number in the job, and `execution` says which of several, from 1. */
export type Hit = {
  "stream": string;
  "of": "session" | "task" | "run";
  "name": string;
  "session"?: string | null;
  "task_run"?: string | null;
  "run"?: string | null;
  "seq": number;
  "at": number;
  "kind": string;
  "snippet": Snippet;
  "owner": HitOwner;
  "work"?: number | null;
  "execution"?: number | null;
};

/** What a list shows it with, one of the three: the run of a job, else a task that was started by itself, else a person's session. */
export type HitOwner = {
  "run"?: RunView | null;
  "task_run"?: TaskRunView | null;
  "session"?: SessionView | null;
};

/** Newest first. There may be more behind a page, also behind an empty one. */
export type HitPage = {
  "items": readonly (Hit)[];
  "next_cursor"?: string | null;
};

/** A program that is asked at one moment of a session's life: a command, or a function in a Python file. */
export type HookKeys = {
  "command"?: readonly (string)[] | null;
  "python"?: string | null;
  "tool"?: string | null;
  "seconds"?: number | null;
  "subAgents"?: boolean | null;
  "onHost"?: boolean | null;
};

/** A hook was asked. With an error it had no say: what it was asked about went on, but for a call of a tool, which was refused. */
export type HookRan = {
  "kind": "hook.ran";
  "hook": string;
  "program": string;
  "milliseconds": number;
  "decided": "nothing" | "changed" | "blocked" | "asked";
  "reason"?: string | null;
  "error"?: string | null;
  "tool"?: string | null;
  "agent"?: string | null;
};

/** A program that is asked at one moment: a command, or a function in a Python file. */
export type HookSetup = {
  "hook": "preToolUse" | "preMcpToolCall" | "postToolUse" | "postToolUseFailure" | "userPromptSubmitted" | "userPromptTransformed" | "sessionStart" | "sessionEnd" | "errorOccurred" | "agentStop" | "subagentStart" | "subagentStop" | "beforePromptBuild" | "modelInput" | "modelOutput" | "agentEnd" | "beforeCompaction" | "afterCompaction" | "beforeMessageWrite";
  "command": readonly (string)[];
  "python"?: string | null;
  "tool"?: string | null;
  "seconds": number;
  "sub_agents"?: boolean | null;
  "on_host": boolean;
  "place": string;
  "files": Record<string, string>;
  "needs_trust": boolean;
};

/** What went to a host and came from it, as far as it is counted, with who allowed it; and how often it was refused, with the reason and the time of the last time. */
export type HostTraffic = {
  "host": string;
  "port"?: number | null;
  "is_open": boolean;
  "by"?: string | null;
  "connections": number;
  "sent": number;
  "received": number;
  "refused": number;
  "why"?: string | null;
  "refused_at"?: number | null;
};

/** Something waits for a person. */
export type InboxArrived = {
  "kind": "inbox.arrived";
  "item": InboxItem;
};

/** One thing that waits for a person. */
export type InboxItem = {
  "id": string;
  "session": string;
  "asked": ApprovalAsked | QuestionAsked | LimitReached | PlanAsked | SwitchAsked | SignInAsked;
  "asked_at": number;
  "task_run"?: string | null;
  "run"?: string | null;
};

/** It waits no longer. */
export type InboxSettled = {
  "kind": "inbox.settled";
  "item": string;
  "session": string;
  "outcome": "allow-once" | "allow-always" | "deny" | "answered" | "declined" | "go-on" | "approved" | "rejected" | "signed-in" | "timeout" | "cancelled";
  "who"?: string | null;
};

/** A command by its name, without the slash, and what is said behind it. */
export type InvokeCommand = {
  "name": string;
  "input": string;
};

/** Somebody approved, denied or answered. What was said is in the session's own stream. */
export type ItemDecided = {
  "kind": "audit.decided";
  "by": Actor;
  "item": string;
  "session": string;
  "outcome": "allow-once" | "allow-always" | "deny" | "answered" | "declined" | "go-on" | "approved" | "rejected" | "signed-in" | "timeout" | "cancelled";
  "about": string;
};

/** What came of an item, once. */
export type ItemSettled = {
  "kind": "item.settled";
  "item": string;
  "outcome": "allow-once" | "allow-always" | "deny" | "answered" | "declined" | "go-on" | "approved" | "rejected" | "signed-in" | "timeout" | "cancelled";
  "who"?: string | null;
  "answer"?: string | null;
  "was_words": boolean;
  "rule"?: string | null;
  "allows"?: Rule | null;
  "reason"?: string | null;
};

/** A job: its works, the flow chart that is drawn from them, and how its runs went. */
export type JobItem = {
  "name": string;
  "requireUserInput": boolean;
  "description"?: string | null;
  "work": Record<string, unknown>;
  "chart": Record<string, unknown>;
  "stats": JobStats;
};

/** The jobs of the entry in use, and the grid that they are laid out in. */
export type JobList = {
  "items": readonly (JobItem)[];
  "grid": readonly (Record<string, unknown>)[];
};

/** `usual_…` is the median of the last ten runs that succeeded; null where none did. */
export type JobStats = {
  "last"?: LastOutcome | null;
  "usual_ms"?: number | null;
  "usual_requests"?: number | null;
  "running": number;
  "waiting_for_person": number;
};

/** A rule that holds, with who made it and when. */
export type KeptRule = {
  "id": string;
  "rule": Rule;
  "who": string;
  "made_at": number;
};

/** The newest run that has ended: how, and when. */
export type LastOutcome = {
  "run": string;
  "state": "succeeded" | "failed" | "canceled";
  "at": number;
};

/** A limit was reached: a person says whether the work goes on. */
export type LimitReached = {
  "kind": "limit.reached";
  "item": string;
  "scope": string;
  "limit": string;
  "allowed": number;
  "used": number;
  "more"?: number | null;
  "before_turn": boolean;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** What a run changed in a file; nothing where it did not. */
export type LineCounts = {
  "added": number;
  "removed": number;
};

/** An address that gets in once, within ten minutes. */
export type Link = {
  "url": string;
};

/** An extension as it lies on disk. `digest` stands for all files in its folder; it is empty for one that cannot be read. Only those that are `ready`, and the trusted version of those that are `changed`, run in sessions. */
export type ListedExtension = {
  "name": string;
  "scope": "project" | "user";
  "language": "python" | "javascript";
  "path": string;
  "digest": string;
  "state": "ready" | "untrusted" | "changed" | "disabled" | "shadowed" | "failed";
  "reason": string;
  "on_host": boolean;
};

/** One browser that is signed in; `this` is the one that asks. */
export type ListedSignIn = {
  "id": string;
  "name": string;
  "address": string;
  "device": string;
  "since": number;
  "until": number;
  "used_at": number;
  "this": boolean;
};

/** An extension as it is now. `reason` is its last error, or why it does not run; `words` is what it said last without writing it down. */
export type LiveExtension = {
  "name": string;
  "scope": string;
  "language": string;
  "digest": string;
  "state": string;
  "reason": string;
  "tools": readonly (string)[];
  "hooks": readonly (string)[];
  "words": string;
};

export type LiveExtensions = {
  "items": readonly (LiveExtension)[];
};

/** A task that is run by itself: the run around it has no job. */
export type LoneTask = {
  "task": string;
  "user_input": string;
  "model"?: string | null;
  "session"?: string | null;
  "policy"?: string | null;
  "checks_availability": boolean;
};

/** The agent repeats itself. With a warning its call goes on, and it is told the text. */
export type LoopNoticed = {
  "kind": "loop.noticed";
  "level": "warning" | "critical";
  "detector": string;
  "tool": string;
  "count": number;
  "text": string;
};

/** An MCP server of the session was connected, failed, wants a person to sign in, or ended. */
export type McpChanged = {
  "kind": "mcp.changed";
  "server": string;
  "state": "starting" | "connected" | "failed" | "needs-sign-in" | "stopped";
  "error"?: string | null;
};

/** An MCP server of a session as it is now. */
export type McpServer = {
  "name": string;
  "state": "starting" | "connected" | "failed" | "needs-sign-in" | "stopped";
  "error"?: string | null;
};

export type MessageDelta = {
  "block": string;
  "offset": number;
  "text": string;
  "kind": "message.delta";
};

export type MessageEnded = {
  "kind": "message.ended";
  "block": string;
  "text": string;
  "cut": boolean;
  "left_out"?: number | null;
};

export type MessageStarted = {
  "block": string;
  "kind": "message.started";
};

/** One condition or one prompt put to a session. `round` counts from 0, the criteria's retries from 1; `attempt` counts the sendings of it from 1, those behind a crash included. */
export type Mission = {
  "kind": "availability" | "prompt" | "criteria";
  "round": number;
  "attempt": number;
};

/** What came of a mission: the job tools that completed, or why it was cut short. */
export type MissionEnded = {
  "kind": "task.mission.ended";
  "mission": Mission;
  "session": string;
  "outcome": "done" | "crashed" | "refused";
  "calls": readonly (ToolCall)[];
  "reason"?: string | null;
  "is_restart": boolean;
  "by_person": boolean;
  "usage": Usage;
  "effects"?: readonly (string)[] | null;
  "troubles"?: readonly (string)[] | null;
};

/** A session has the prompt of a mission, on disk. */
export type MissionSent = {
  "kind": "task.mission.sent";
  "mission": Mission;
  "session": string;
  "prompt": string;
  "text": string;
};

/** One violation: `{where}: {reason}`, with its place in the text where that is known. `advice` and `example` say what to write instead. `excerpt` has the lines around the place; the first 50 mistakes have one. Where `is_around`, the place is that of the nearest thing around it. */
export type Mistake = {
  "where": string;
  "reason": string;
  "hint"?: string | null;
  "line"?: number | null;
  "column"?: number | null;
  "advice"?: string | null;
  "example"?: string | null;
  "is_around": boolean;
  "excerpt": readonly (MistakeLine)[];
};

/** A line of the file near a mistake, in three parts where something on it is marked. */
export type MistakeLine = {
  "line": number;
  "before": string;
  "marked": string;
  "after": string;
};

/** A change of the text that repairs the mistake. Lines and columns count from 1, columns in characters; the end is behind the last character that `text` replaces. */
export type MistakeRepair = {
  "title": string;
  "line": number;
  "column": number;
  "end_line": number;
  "end_column": number;
  "text": string;
};

/** All models, and why some may be missing. */
export type ModelList = {
  "items": readonly (OfferedModel)[];
  "problems": readonly (string)[];
};

/** Which of its models to call; without one the first. */
export type ModelToTest = {
  "model"?: string | null;
};

/** The name or id of a machine that lives. */
export type MoveRun = {
  "to": string;
};

/** An account, and what it is called here. */
export type NewAccount = {
  "token": string;
  "name": string;
};

/** Where a skeleton is written: into the project, or for all projects of this user. */
export type NewExtension = {
  "cwd"?: string | null;
  "name": string;
  "scope": "project" | "user";
  "language": "python" | "javascript";
};

/** A provider. Its models are called `name/model`. */
export type NewProvider = {
  "type": "openai" | "azure" | "anthropic";
  "wire"?: "responses" | "completions" | null;
  "base_url": string;
  "private": boolean;
  "auth": "key" | "bearer";
  "headers": Record<string, string>;
  "api_version"?: string | null;
  "key"?: string | null;
  "models": readonly (ProviderModel)[];
  "name": string;
};

/** A rule, and where it goes: 0 is the first place; without one it goes to the end. */
export type NewRule = {
  "rule": Rule;
  "place"?: number | null;
};

/** A key or a token. */
export type NewSecret = {
  "value": string;
};

/** What the setting is to be. Null is “not set”, where a setting may be that. */
export type NewValue = {
  "value"?: boolean | number | string | readonly (string)[] | null;
};

/** Something that a person may do now, and what would come of it. */
export type NextStep = {
  "act": "retry" | "open-session" | "run-again" | "compare" | "decide";
  "words": string;
  "session"?: string | null;
};

/** One model of a provider's list. */
export type OfferedByProvider = {
  "id": string;
  "context_tokens"?: number | null;
  "vision"?: boolean | null;
  "efforts"?: boolean | null;
  "chat": boolean;
};

/** A model that a session can be started on. */
export type OfferedModel = {
  "id": string;
  "name": string;
  "multiplier": number;
  "source": string;
  "context_tokens"?: number | null;
  "efforts"?: readonly (string)[] | null;
  "vision"?: boolean | null;
  "prompt_tokens"?: number | null;
  "output_tokens"?: number | null;
  "accounts": readonly (string)[];
};

/** What came of the run: made by rule from its outcome, the failed check and what was concluded last. `head` says it in a few words, `text` the rest. */
export type OutcomeSentence = {
  "head": string;
  "text": string;
};

/** The agent asked to do something and got its answer. */
export type PermissionDecided = {
  "kind": "permission.decided";
  "request": string;
  "wish": string;
  "about": string;
  "allowed": boolean;
  "by": string;
  "reason": string;
  "call"?: string | null;
  "rule"?: Rule | null;
};

/** Something that somebody was asked, and said. */
export type PersonsDecision = {
  "at": number;
  "what": string;
  "outcome": string;
  "who"?: string | null;
  "answer"?: string | null;
  "task": string;
  "session": string;
  "waited_ms": number;
};

/** The agent has made a plan, and begins with it when a person approves. Until then it only reads. */
export type PlanAsked = {
  "kind": "plan.asked";
  "item": string;
  "call"?: string | null;
  "summary": string;
  "plan"?: string | null;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** RFC 9457, with a code for programs and whether trying again may help. */
export type Problem = {
  "type": "about:blank";
  "title": string;
  "status": number;
  "code": string;
  "detail": string;
  "request_id": string;
  "retryable": boolean;
  "suggestion"?: string | null;
  "digest"?: string | null;
  "modified_at"?: number | null;
  "text"?: string | null;
};

/** A request of a person is on disk, behind those that were accepted before it; one that steers or interrupts goes before them. */
export type PromptAccepted = {
  "kind": "prompt.accepted";
  "prompt": string;
  "text": string;
  "who": string;
  "redacted": number;
  "task"?: string | null;
  "delivery"?: "steer" | "interrupt" | null;
  "images"?: readonly (PromptImage)[] | null;
  "mode"?: "plan" | null;
  "files"?: readonly (string)[] | null;
  "selection"?: PromptSelection | null;
};

/** A request that waits says something else now. */
export type PromptChanged = {
  "kind": "prompt.changed";
  "prompt": string;
  "text": string;
  "who": string;
  "redacted": number;
};

/** An accepted request that will not be worked on. */
export type PromptDropped = {
  "kind": "prompt.dropped";
  "prompt": string;
  "reason": string;
};

/** An image that belongs to a request; the session's images have it by this id. */
export type PromptImage = {
  "id": string;
  "mime": string;
  "bytes": number;
};

/** A request that waits comes right before another one now, or last. */
export type PromptMoved = {
  "kind": "prompt.moved";
  "prompt": string;
  "before"?: string | null;
  "who": string;
};

/** The request is on disk. `redacted` counts the secrets that were taken out of it. */
export type PromptReceipt = {
  "prompt": string;
  "seq": number;
  "redacted": number;
};

/** A part of a file, with its text as it was when the request was made. */
export type PromptSelection = {
  "path": string;
  "text": string;
  "first_line"?: number | null;
  "last_line"?: number | null;
};

/** The agent has read the request in the middle of a turn; it gets none of its own. */
export type PromptSteered = {
  "kind": "prompt.steered";
  "prompt": string;
  "turn": string;
};

/** A provider as people see it, which has no key in it. */
export type ProviderFacts = {
  "name": string;
  "type": "openai" | "azure" | "anthropic";
  "wire"?: "responses" | "completions" | null;
  "base_url": string;
  "private": boolean;
  "auth": "key" | "bearer";
  "headers": Record<string, string>;
  "api_version"?: string | null;
  "models": readonly (ProviderModel)[];
  "source": "file" | "added";
  "added_by"?: string | null;
  "added_at"?: number | null;
  "key": "set" | "missing" | "none";
  "key_variable"?: string | null;
  "key_place"?: "keyring" | "file" | null;
  "state": "fine" | "failing" | "unknown";
  "since"?: number | null;
  "cause"?: string | null;
  "first_word_ms"?: number | null;
  "sessions": number;
};

/** Those of the settings file come first. */
export type ProviderList = {
  "items": readonly (ProviderFacts)[];
  "new_keys_in": "keyring" | "file";
};

/** A model of a provider. What is left out, the runtime guesses from the id. */
export type ProviderModel = {
  "id": string;
  "wire_model"?: string | null;
  "prompt_tokens"?: number | null;
  "output_tokens"?: number | null;
  "vision": boolean;
  "efforts": readonly ("low" | "medium" | "high" | "xhigh" | "max")[];
};

/** A provider of one's own. Its key is told by its presence only. */
export type ProviderState = {
  "name": string;
  "type": string;
  "base_url": string;
  "models": readonly (string)[];
  "key": "set" | "missing" | "none";
};

/** A provider that is not kept yet. */
export type ProviderToTest = {
  "type": "openai" | "azure" | "anthropic";
  "wire"?: "responses" | "completions" | null;
  "base_url": string;
  "private": boolean;
  "auth": "key" | "bearer";
  "headers": Record<string, string>;
  "api_version"?: string | null;
  "key"?: string | null;
  "model"?: string | null;
};

/** The agent, or Airboss, wants to know something of a person: one of the choices, words, or a form. */
export type QuestionAsked = {
  "kind": "question.asked";
  "item": string;
  "call"?: string | null;
  "question": string;
  "choices": readonly (string)[];
  "allows_words": boolean;
  "form"?: string | null;
  "by"?: "airboss" | null;
  "extension"?: string | null;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** The requests that wait, in the order in which they will be worked on. */
export type Queue = {
  "items": readonly (QueuedPrompt)[];
};

/** A request that waits for its turn. */
export type QueuedPrompt = {
  "prompt": string;
  "text": string;
  "task"?: string | null;
  "who": string;
  "delivery"?: "steer" | "interrupt" | null;
  "images"?: readonly (PromptImage)[] | null;
  "mode"?: "plan" | null;
  "files"?: readonly (string)[] | null;
  "selection"?: PromptSelection | null;
};

export type ReasoningDelta = {
  "block": string;
  "offset": number;
  "text": string;
  "kind": "reasoning.delta";
};

export type ReasoningEnded = {
  "kind": "reasoning.ended";
  "block": string;
  "text": string;
  "cut": boolean;
  "left_out"?: number | null;
};

export type ReasoningStarted = {
  "block": string;
  "kind": "reasoning.started";
};

/** What was done, with its place in the audit and its time (ms, UTC). */
export type RecordedAct = {
  "seq": number;
  "at": number;
  "event": ServerStarted | ServerStopped | BrowserSignedIn | BrowserSignedOut | RequestRefused | ItemDecided | RulesChanged | TrustChanged | SettingChanged | TokenChanged | SecretChanged | SourceChanged | EntryInstalled | EntryWritten | ExtensionChanged | Deleted | AuditTrimmed;
};

/** An event with its place in the stream and its time (ms, UTC). */
export type RecordedEvent = {
  "seq": number;
  "at": number;
  "event": SessionOpened | SessionReady | SessionResumed | SessionInterrupted | SessionClosed | SessionRenamed | SessionPinned | SessionError | SessionIdle | PromptAccepted | PromptChanged | PromptMoved | PromptSteered | PromptDropped | AsideAnswered | TurnStarted | TurnRetrying | TurnUsage | TurnEnded | PermissionDecided | ReasoningStarted | ReasoningDelta | ReasoningEnded | MessageStarted | MessageDelta | MessageEnded | ToolStarted | ToolDelta | ToolEnded | TaskAccepted | TaskWaiting | TaskGoing | TaskSessionStarted | TaskSessionFailed | TaskSessionStopped | MissionSent | MissionEnded | TaskChecked | TaskRetrying | RetryDecided | TaskDecided | TaskError | TaskEnded | RunAccepted | RunResumed | RunPlaced | RunMoved | RunRetried | WorkStarted | WorkWaiting | WorkGoing | WorkRetrying | WorkStopped | WorkCut | RunEnding | RunError | RunTreeKept | RunRenamed | RunTagged | RunEnded | ApprovalAsked | QuestionAsked | LimitReached | PlanAsked | SwitchAsked | SignInAsked | ItemSettled | InboxArrived | InboxSettled | ContextMeasured | CompactionStarted | CompactionEnded | SessionChanged | SessionRestarted | SessionForked | SubAgentStarted | SubAgentSaid | SubAgentEnded | SkillInvoked | McpChanged | LoopNoticed | ToolVetoed | HookRan | ToolWaiting | ToolGoing | AccountChanged | CageOpened | CageClosed | CageLimit | EgressOpened | EgressClosed | EgressRefused | ExtensionStarted | ExtensionEnded | ExtensionRefused | ExtensionSaid | ExtensionHooked | ServerStarted | ServerStopped | BrowserSignedIn | BrowserSignedOut | RequestRefused | ItemDecided | RulesChanged | TrustChanged | SettingChanged | TokenChanged | SecretChanged | SourceChanged | EntryInstalled | EntryWritten | ExtensionChanged | Deleted | AuditTrimmed;
};

/** It is being played; ask for it by its id. */
export type RehearsalStarted = {
  "id": string;
};

/** Whether a scripted model is served. */
export type RehearsalState = {
  "on": boolean;
  "builtin": boolean;
  "script"?: string | null;
};

/** A job that is played, or was. `digest` is the SHA-256 of the draft's text. */
export type RehearsedJob = {
  "id": string;
  "job": string;
  "state": "running" | "succeeded" | "failed" | "canceled";
  "started_at": number;
  "ended_at"?: number | null;
  "reason"?: string | null;
  "tasks": readonly (RehearsedTask)[];
  "digest": string;
};

/** A task of the job. `rounds` counts how often its prompt was worked on; before the first it is `waiting`. `requests` are those to the model, and `seconds` is the time at work. */
export type RehearsedTask = {
  "name": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "rounds": number;
  "requests": number;
  "seconds": number;
};

/** A run as a person reads it. It is as of `seq` of the run's stream. */
export type Report = {
  "id": string;
  "seq": number;
  "job": string;
  "title": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "input": string;
  "folder": string;
  "who": string;
  "tags": readonly (string)[];
  "models": readonly (string)[];
  "started_at": number;
  "ended_at"?: number | null;
  "took_ms": number;
  "waited_for_person_ms": number;
  "worked_ms": number;
  "task_runs": number;
  "usage": Usage;
  "attempt": number;
  "again"?: string | null;
  "outcome": OutcomeSentence;
  "words"?: CheckWords | null;
  "tried": readonly (TriedAttempt)[];
  "next": readonly (NextStep)[];
  "tasks": readonly (TaskLine)[];
  "changes": ChangedFiles;
  "decisions": DecisionsMade;
};

/** Requests that were not let in. The first is told at once; those like it that follow within a minute are counted, and told together. */
export type RequestRefused = {
  "kind": "audit.refused";
  "by": Actor;
  "code": string;
  "status"?: number | null;
  "method"?: string | null;
  "path"?: string | null;
  "count": number;
};

/** What a person said to the question whether an attempt that crashed may be made again. */
export type RetryDecided = {
  "kind": "task.retry.decided";
  "session": string;
  "again": boolean;
  "who"?: string | null;
};

/** Speaks for every request that has all of what it names; `*` and `?` stand for any letters. Of several the first that matches holds. */
export type Rule = {
  "verdict": "allow" | "deny" | "ask";
  "wish"?: string | null;
  "tool"?: string | null;
  "command"?: string | null;
  "path"?: string | null;
  "host"?: string | null;
  "folder"?: string | null;
};

/** Of several that match a request the first holds. */
export type RuleList = {
  "items": readonly (KeptRule)[];
};

/** Every rule by its id, once. */
export type RuleOrder = {
  "ids": readonly (string)[];
};

/** A rule was added or removed, or the rules were put in another order. */
export type RulesChanged = {
  "kind": "audit.rules.changed";
  "by": Actor;
  "change": "added" | "removed" | "arranged";
  "rule"?: string | null;
  "text": string;
};

/** A job, or one task by itself, is to be run; this is on disk before anything runs. */
export type RunAccepted = {
  "kind": "run.accepted";
  "job": string;
  "entry": string;
  "cwd": string;
  "user_input": string;
  "who": string;
  "trusted": boolean;
  "again"?: string | null;
  "title": string;
  "lone"?: LoneTask | null;
  "short_title": string;
  "input_start": string;
  "trace"?: string | null;
  "cage"?: string | null;
  "caged"?: "strong" | "narrow" | "partly" | "no" | null;
  "labels": readonly (string)[];
};

/** Some of the files that a run changed, each with its diff; go on with `first=next`. */
export type RunChanges = {
  "files": readonly (FileChange)[];
  "count": number;
  "next"?: number | null;
};

/** A run with every work that was begun, in order; of one in a loop, every round. `held_for`: whom it waits for, where no machine that lives could work on it. */
export type RunDetail = {
  "user_input": string;
  "works": readonly (WorkRecord)[];
  "id": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "job": string;
  "entry": string;
  "cwd": string;
  "who": string;
  "created_at": number;
  "updated_at": number;
  "seq": number;
  "again"?: string | null;
  "title": string;
  "running": readonly (RunningWork)[];
  "works_succeeded": number;
  "works_failed": number;
  "restarts": number;
  "attempt": number;
  "usage": Usage;
  "waits_for"?: string | null;
  "ending"?: RunEnding | null;
  "trusted": boolean;
  "redo": readonly (string)[];
  "reason"?: string | null;
  "ended_at"?: number | null;
  "short_title": string;
  "input_start": string;
  "tags": readonly (string)[];
  "cage"?: string | null;
  "caged"?: "strong" | "narrow" | "partly" | "no" | null;
  "machine"?: string | null;
  "moved"?: RunMove | null;
  "labels": readonly (string)[];
  "held_for"?: string | null;
  "time": number;
};

/** How the run ended; only a retry goes on behind it. */
export type RunEnded = {
  "kind": "run.ended";
  "outcome": "succeeded" | "failed" | "canceled";
  "reason": string;
  "who"?: string | null;
};

/** It is being ended, by a person or by a crash; what still works is stopped first. */
export type RunEnding = {
  "kind": "run.ending";
  "outcome": "succeeded" | "failed" | "canceled";
  "reason": string;
  "who"?: string | null;
};

/** A task crashed (which is not: failed), or a condition could not be asked; the run has failed with it. */
export type RunError = {
  "kind": "run.error";
  "name": string;
  "message": string;
  "stack"?: string | null;
  "cause"?: string | null;
};

/** What the runs that are kept can be told apart by, each in the order of its letters. */
export type RunFilters = {
  "jobs": readonly (string)[];
  "tags": readonly (string)[];
};

/** The job of a run as it was when the run was accepted, whatever the entry says by now. */
export type RunJob = {
  "name": string;
  "requireUserInput": boolean;
  "work": Record<string, unknown>;
  "chart": Record<string, unknown>;
  "names": Record<string, string>;
};

/** Runs, newest first. */
export type RunList = {
  "items": readonly (RunView)[];
  "next_cursor"?: string | null;
};

/** When a run went on with another worker: which tasks began again with that, and how many had succeeded before. */
export type RunMove = {
  "at": number;
  "before": string;
  "to": string;
  "reason": string;
  "again": readonly (string)[];
  "done": number;
};

/** It goes on with another worker; both by their names. What was cut off is done again. */
export type RunMoved = {
  "kind": "run.moved";
  "from": string;
  "to": string;
  "reason": string;
};

/** A worker begins it, by its name. Said only where several share a database. */
export type RunPlaced = {
  "kind": "run.placed";
  "machine": string;
};

/** Somebody gave the run another title. */
export type RunRenamed = {
  "kind": "run.renamed";
  "short_title": string;
  "who": string;
};

/** A new server goes on with it. */
export type RunResumed = {
  "kind": "run.resumed";
  "reason": string;
};

/** The failed part is done again; what had succeeded stays. */
export type RunRetried = {
  "kind": "run.retried";
  "time": number;
  "who": string;
  "redo": readonly (string)[];
};

/** The run has these tags now, and no others. */
export type RunTagged = {
  "kind": "run.tagged";
  "tags": readonly (string)[];
  "who": string;
};

/** The files of the run's folder as they were when it began, or when it ended, in git. Nothing is said of a folder that is not in git. */
export type RunTreeKept = {
  "kind": "run.tree.kept";
  "when": "begin" | "end";
  "tree"?: string | null;
  "reason": string;
  "left_out": number;
};

/** One run as of `seq`. It has the works at hand only: a run may have thousands. */
export type RunView = {
  "id": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "job": string;
  "entry": string;
  "cwd": string;
  "who": string;
  "created_at": number;
  "updated_at": number;
  "seq": number;
  "again"?: string | null;
  "title": string;
  "running": readonly (RunningWork)[];
  "works_succeeded": number;
  "works_failed": number;
  "restarts": number;
  "attempt": number;
  "usage": Usage;
  "waits_for"?: string | null;
  "ending"?: RunEnding | null;
  "trusted": boolean;
  "redo": readonly (string)[];
  "reason"?: string | null;
  "ended_at"?: number | null;
  "short_title": string;
  "input_start": string;
  "tags": readonly (string)[];
  "cage"?: string | null;
  "caged"?: "strong" | "narrow" | "partly" | "no" | null;
  "machine"?: string | null;
  "moved"?: RunMove | null;
  "labels": readonly (string)[];
  "time": number;
};

/** A task of the job that is at work, or waits. */
export type RunningWork = {
  "work": number;
  "path": string;
  "task": string;
  "task_run": string;
  "started_at": number;
  "waits_for"?: string | null;
  "for_person": boolean;
  "worked_ms": number;
  "working_since"?: number | null;
};

/** One process of the agent runtime: whose it is, and how many sessions are open on it. */
export type RuntimeProcessState = {
  "pid"?: number | null;
  "identity": string;
  "mode": "cli" | "token" | "byok";
  "account"?: string | null;
  "sessions": number;
};

/** The agent runtime's processes, or why there is none. `pid` is that of the one with most sessions. */
export type RuntimeState = {
  "state": "stopped" | "running" | "missing";
  "path"?: string | null;
  "source"?: string | null;
  "native"?: boolean | null;
  "version": string;
  "pid"?: number | null;
  "restarts": number;
  "detail": string;
  "url"?: string | null;
  "shared": boolean;
  "processes": readonly (RuntimeProcessState)[];
};

/** A secret was put in, or is no longer kept. What it is, is nowhere but where it is kept. */
export type SecretChanged = {
  "kind": "audit.secret.changed";
  "by": Actor;
  "change": "kept" | "removed";
  "name": string;
  "place": string;
};

/** What is known of a secret, which is not the secret itself. */
export type SecretFacts = {
  "name": string;
  "place": "keyring" | "file";
  "at": number;
};

/** By name. */
export type SecretList = {
  "items": readonly (SecretFacts)[];
};

/** What becomes of one section of the runtime's system message. */
export type SectionChange = {
  "action": "replace" | "append" | "prepend" | "remove";
  "text"?: string | null;
};

/** What becomes of one section of the system message. */
export type SectionKeys = {
  "replace"?: string | null;
  "append"?: string | null;
  "prepend"?: string | null;
};

/** What the agent is to do; and, where it works already, what becomes of this request: it waits for its turn (`queue`), goes into the running turn (`steer`), ends that turn and comes first (`interrupt`), or is refused. Up to five images of up to 5 MB each are shown to the model. With `mode: plan` the agent only reads and shows a plan first, which a person approves. `files` are files and folders that the agent is pointed to: absolute, or from the session's folder on. */
export type SendPrompt = {
  "text": string;
  "delivery": "queue" | "steer" | "interrupt" | "refuse";
  "images": readonly (SentImage)[];
  "mode": "work" | "plan";
  "files": readonly (string)[];
  "selection"?: SentSelection | null;
};

/** An image, as base64. */
export type SentImage = {
  "mime": "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  "data": string;
};

/** A part of a file that somebody has marked. Lines count from 1. */
export type SentSelection = {
  "path": string;
  "text": string;
  "firstLine"?: number | null;
  "lastLine"?: number | null;
};

/** An MCP server: a program that is started (`command`), or an address that is called (`url`). An empty one names a server that is described elsewhere. What lets one in (`headers`, `tokenVariable`, `clientId`) and `private` are for the settings only. */
export type ServerKeys = {
  "command"?: readonly (string)[] | null;
  "env"?: Record<string, unknown> | null;
  "url"?: string | null;
  "headers"?: Record<string, string> | null;
  "tokenVariable"?: string | null;
  "clientId"?: string | null;
  "clientSecretVariable"?: string | null;
  "private"?: boolean | null;
  "onHost"?: boolean | null;
  "tools"?: readonly (string)[] | null;
  "seconds"?: number | null;
};

/** An MCP server: a program that is started, or an address that is called. Values that are secret are in the variables that these texts name (`$NAME`). */
export type ServerSetup = {
  "command"?: readonly (string)[] | null;
  "env": Record<string, string>;
  "url"?: string | null;
  "headers": Record<string, string>;
  "token_variable"?: string | null;
  "client_id"?: string | null;
  "client_secret_variable"?: string | null;
  "private": boolean;
  "seconds"?: number | null;
  "on_host": boolean;
  "scripts": readonly (string)[];
};

/** A server began, with these settings: those that are not as they are without being set. */
export type ServerStarted = {
  "kind": "audit.server.started";
  "by": Actor;
  "version": string;
  "policy": string;
  "settings": string;
  "needs_token": boolean;
  "tokens": readonly (TokenFacts)[];
};

/** A server was asked to end: by somebody, or by a signal. */
export type ServerStopped = {
  "kind": "audit.server.stopped";
  "by": Actor;
};

/** Which of the agent runtime's sessions it is (`number`, and the runtime's own name), and what that one is bound to, without secrets: the address and the account as prints. Empty where that is not known. `fits`: a resume goes on with its history; else the agent starts over. Without a word on it, its model is not to be had. */
export type SessionBinding = {
  "number": number;
  "runtime": string;
  "parts": Record<string, string>;
  "fits"?: boolean | null;
};

/** Somebody wants the session to go on with another model, effort, policy or agent, from its next turn on. What is left out stays; an agent of no letters is none of those that it has. With `instead_of` the model was at its rate limit: the turn goes on with another one now, and the session returns to it by itself. */
export type SessionChanged = {
  "kind": "session.changed";
  "model"?: string | null;
  "reasoning_effort"?: string | null;
  "policy"?: string | null;
  "agent"?: string | null;
  "who": string;
  "instead_of"?: string | null;
};

/** The session was ended on purpose, or could not be opened. */
export type SessionClosed = {
  "kind": "session.closed";
  "reason": string;
  "who": string;
};

/** Sessions of this server right now. */
export type SessionCounts = {
  "open": number;
  "working": number;
};

/** Something failed inside the session. */
export type SessionError = {
  "kind": "session.error";
  "name": string;
  "message": string;
  "status"?: number | null;
  "stack"?: string | null;
  "cause"?: string | null;
};

/** Said in both sessions: the new one began as a copy of the other (`source`), which says with which one (`copy_id`). Without `before` all of it was copied, else what was before that request. `runtime` is the runtime's own name for the new session. */
export type SessionForked = {
  "kind": "session.forked";
  "who": string;
  "source"?: string | null;
  "copy_id"?: string | null;
  "before"?: string | null;
  "runtime"?: string | null;
};

/** The agent has nothing to do: every block is closed and the queue is empty or comes next. */
export type SessionIdle = {
  "kind": "session.idle";
};

/** The session lost its runtime or its server; it may be resumed. */
export type SessionInterrupted = {
  "kind": "session.interrupted";
  "reason": string;
};

/** Sessions, newest first. */
export type SessionList = {
  "items": readonly (SessionView)[];
  "next_cursor"?: string | null;
};

/** A session was asked for; this is on disk before the runtime hears of it. */
export type SessionOpened = {
  "kind": "session.opened";
  "model": string;
  "cwd": string;
  "policy": string;
  "who": string;
  "task"?: string | null;
  "run"?: string | null;
  "limits": UsageLimits;
  "approval_seconds"?: number | null;
  "setup"?: Setup | null;
  "uncaged"?: string | null;
};

/** Somebody wants to find the session at the top of lists, or no longer. */
export type SessionPinned = {
  "kind": "session.pinned";
  "pinned": boolean;
  "who": string;
};

/** The runtime has the session: it can work. */
export type SessionReady = {
  "kind": "session.ready";
  "account"?: string | null;
  "machine"?: string | null;
};

/** Somebody gave the session another name than the first line of its first request. */
export type SessionRenamed = {
  "kind": "session.renamed";
  "title": string;
  "who": string;
};

/** The agent begins anew and knows nothing of what was said before, since its runtime has lost the history or may not use it. `number` counts the runtime's sessions that this one has had. */
export type SessionRestarted = {
  "kind": "session.restarted";
  "why": string;
  "number": number;
};

/** An interrupted session works again, with its history. */
export type SessionResumed = {
  "kind": "session.resumed";
  "who": string;
};

/** An MCP server of the session: its program or host, how it is, and the names of its tools. Where a person can sign in, and who did: `signed_in` is the name of their token here. */
export type SessionServer = {
  "name": string;
  "what": string;
  "state": "starting" | "connected" | "failed" | "needs-sign-in" | "stopped";
  "error"?: string | null;
  "tools": readonly (string)[];
  "can_sign_in": boolean;
  "signed_in"?: string | null;
};

/** The session's setup as it is in force, and its tools. Where `live`, the runtime said which there are, and it does so from the first turn on; otherwise they are those that its lists allow. */
export type SessionSetup = {
  "setup": Setup;
  "tools": SessionTools;
  "live": boolean;
  "binding": SessionBinding;
  "mcp_servers": readonly (SessionServer)[];
};

/** The tools by where they come from: the runtime, Airboss, and each MCP server by its name. */
export type SessionTools = {
  "built_in": readonly (string)[];
  "ours": readonly (string)[];
  "servers": Record<string, readonly (string)[]>;
};

/** One session as of `seq`, the last event that this view has seen and that is no delta. */
export type SessionView = {
  "id": string;
  "state": "opening" | "idle" | "working" | "interrupted" | "closed";
  "model": string;
  "cwd": string;
  "policy": string;
  "who": string;
  "created_at": number;
  "updated_at": number;
  "seq": number;
  "title": string;
  "pinned": boolean;
  "turn"?: string | null;
  "turns": number;
  "queue": readonly (QueuedPrompt)[];
  "models": readonly (string)[];
  "usage": Usage;
  "spending": Usage;
  "limits": UsageLimits;
  "approval_seconds"?: number | null;
  "granted": readonly (Granted)[];
  "allowances": readonly (Rule)[];
  "error"?: string | null;
  "task"?: string | null;
  "run"?: string | null;
  "items": readonly (InboxItem)[];
  "asking"?: string | null;
  "waiting_calls": readonly (WaitingCall)[];
  "context"?: ContextUse | null;
  "compacting": boolean;
  "reasoning_effort"?: string | null;
  "restart_number": number;
  "forked_from"?: string | null;
  "runtime_copy"?: string | null;
  "own_policy": boolean;
  "mcp_servers": readonly (McpServer)[];
  "mode"?: "plan" | null;
  "plan_approved"?: true | null;
  "agent"?: string | null;
  "own_agent"?: true | null;
  "instead_of"?: string | null;
  "account"?: string | null;
  "cage_profile"?: string | null;
  "cage"?: CageView | null;
  "egress"?: readonly (HostTraffic)[] | null;
  "machine"?: string | null;
};

/** One setting: what it means, what it is, and who says so. */
export type Setting = {
  "name": string;
  "meaning": string;
  "kind": "text" | "number" | "switch" | "choice" | "list";
  "choices": readonly (string)[];
  "value"?: boolean | number | string | readonly (string)[] | null;
  "default"?: boolean | number | string | readonly (string)[] | null;
  "in_use"?: boolean | number | string | readonly (string)[] | null;
  "source": "change" | "file" | "option" | "variable" | "default";
  "set_in": string;
  "effect": "at_once" | "new_sessions" | "within_the_hour" | "next_start";
  "changeable": boolean;
  "locked": boolean;
  "why_not": string;
  "deletes": boolean;
  "changed_by"?: string | null;
  "changed_at"?: number | null;
  "problem"?: string | null;
};

/** A setting was changed, or is again what the file or its default says. */
export type SettingChanged = {
  "kind": "audit.setting.changed";
  "by": Actor;
  "change": "changed" | "reset";
  "name": string;
  "value": string;
  "before": string;
};

/** Those that people change most come first. */
export type SettingList = {
  "items": readonly (Setting)[];
};

/** The description of one session. What is left out is as the runtime has it. */
export type Setup = {
  "reasoning_effort"?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  "system_message"?: SystemMessageSetup | null;
  "instructions": "auto" | "off";
  "tools": ToolSetup;
  "directories": readonly (string)[];
  "context": ContextSetup;
  "agents": Record<string, AgentSetup>;
  "commands": Record<string, CommandSetup>;
  "agent"?: string | null;
  "skills": readonly (string)[];
  "skills_need_trust": boolean;
  "account"?: string | null;
  "identity": string;
  "cage"?: CageSetup | null;
  "mcp_servers": Record<string, ServerSetup>;
  "hooks": readonly (HookSetup)[];
};

/** Somebody whose Copilot sessions use. Its token is never shown. */
export type ShownAccount = {
  "name": string;
  "how": string;
  "state": "fine" | "resting" | "missing";
  "sessions": number;
  "resting_until"?: number | null;
  "why"?: string | null;
  "added_by"?: string | null;
};

/** An MCP server of the session wants a person to sign in. Nothing of the request was sent to the agent yet; without a sign-in it goes on without the server. */
export type SignInAsked = {
  "kind": "sign-in.asked";
  "item": string;
  "server": string;
  "address": string;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** The code of a printed address, from its fragment. */
export type SignInCode = {
  "code": string;
  "replace": boolean;
};

/** The newest first: the role `own` sees all of them, others those of their name. */
export type SignInList = {
  "items": readonly (ListedSignIn)[];
};

/** Whether whoever asks is in: as whom, what they may do, and the names of this server, at which links lead back to it. Else `code` and `detail` say why not, as other routes refuse it. */
export type SignInState = {
  "signed_in": boolean;
  "who"?: string | null;
  "role"?: "view" | "operate" | "decide" | "own" | null;
  "hosts": readonly (string)[];
  "code"?: string | null;
  "detail"?: string | null;
};

/** A GitHub token of somebody who has Copilot. */
export type SignInToken = {
  "token": string;
};

/** The part of the sign-in that the page keeps and sends as `X-Airboss-Key`; the other part is the cookie. Null where no token is needed, and where nothing was done. `who` is the name that the code is for, `instead_of` the one that would have been replaced by it. */
export type SignedIn = {
  "key"?: string | null;
  "who"?: string | null;
  "instead_of"?: string | null;
};

/** An agent has read a skill: its own choice, or with its beginning (`preloaded`). Without a parent it was the session's own agent. */
export type SkillInvoked = {
  "kind": "skill.invoked";
  "name": string;
  "description": string;
  "parent"?: string | null;
  "preloaded": boolean;
};

/** Plain text: what stands before the first hit, the hit, and what stands behind it. */
export type Snippet = {
  "before": string;
  "hit": string;
  "after": string;
};

/** A provider of models or an account was added, changed or removed while a server ran. */
export type SourceChanged = {
  "kind": "audit.source.changed";
  "by": Actor;
  "change": "added" | "changed" | "removed";
  "source": "provider" | "account";
  "name": string;
  "about": string;
};

/** What calls of models took. The cost is as the runtime says it: the multiplier of each. */
export type Spent = {
  "requests": number;
  "input_tokens": number;
  "output_tokens": number;
  "cached_tokens": number;
  "cost": number;
};

/** Which job, with what input, in which folder; without one in the repository's root. */
export type StartRun = {
  "job": string;
  "input": string;
  "cwd"?: string | null;
  "cage"?: string | null;
  "labels": readonly (string)[];
};

/** All may be left out: the default model, in the repository's root, without limits, and with what the settings say about sessions. What would go beyond that needs the role `own`. */
export type StartSession = {
  "reasoningEffort"?: "low" | "medium" | "high" | "xhigh" | "max" | null;
  "systemMessage"?: SystemMessageKeys | null;
  "instructions"?: "auto" | "off" | null;
  "tools"?: ToolKeys | null;
  "directories"?: readonly (string)[] | null;
  "context"?: ContextKeys | null;
  "agents"?: Record<string, unknown> | null;
  "commands"?: Record<string, unknown> | null;
  "agent"?: string | null;
  "skills"?: readonly (string)[] | null;
  "account"?: string | null;
  "identity"?: string | null;
  "cage"?: CageKeys | null;
  "mcpServers"?: Record<string, unknown> | null;
  "hooks"?: Record<string, readonly (HookKeys)[]> | null;
  "model"?: string | null;
  "cwd"?: string | null;
  "permissions"?: "ask" | "caged" | "approve-all" | "read-only" | "deny-all" | null;
  "limits"?: GivenLimits | null;
};

/** On an open session, or on sessions of its own: then with a model and a folder of choice. */
export type StartTask = {
  "task": string;
  "input": string;
  "session"?: string | null;
  "model"?: string | null;
  "cwd"?: string | null;
  "cage"?: string | null;
  "labels": readonly (string)[];
  "skip_availability": boolean;
};

/** Everything a person asks first. */
export type Status = {
  "version": string;
  "started_at": number;
  "data_folder": string;
  "url": string;
  "hosts": readonly (string)[];
  "policy": string;
  "repo_root": string;
  "roots": readonly (string)[];
  "who": string;
  "role"?: "view" | "operate" | "decide" | "own" | null;
  "runtime": RuntimeState;
  "copilot": CopilotState;
  "providers": readonly (ProviderState)[];
  "rehearsal": RehearsalState;
  "sessions": SessionCounts;
  "entry"?: EntryState | null;
  "trouble"?: string | null;
  "cage": "strong" | "narrow" | "none";
  "audit"?: "complete" | "incomplete" | null;
};

/** How a step went in one of the runs. `after_ms` is behind the run's beginning. */
export type StepOutcome = {
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "answer"?: boolean | null;
  "conclusion": string;
  "worked_ms": number;
  "after_ms": number;
  "attempts": number;
  "task_run": string;
  "unasked": boolean;
};

/** `heartbeat` or `end`: there is nothing new behind `seq`, or never will be. */
export type StreamNote = {
  "seq": number;
  "at": number;
};

export type StreamedAct = RecordedAct | StreamNote | string;

export type StreamedEvent = RecordedEvent | StreamNote | string;

export type StreamedFeed = FeedEvent | FeedProgress | FeedChanges | FeedEnd | FeedBuild | string;

/** It is done, or failed, or was stopped. What it used is told with each of its model's calls (`turn.usage`). */
export type SubAgentEnded = {
  "kind": "subagent.ended";
  "parent": string;
  "agent": string;
  "model"?: string | null;
  "outcome": "done" | "failed" | "cancelled";
  "error"?: string | null;
  "tool_calls"?: number | null;
  "milliseconds"?: number | null;
};

/** A whole message of an agent that the tool call `parent` began; it comes in no pieces. */
export type SubAgentSaid = {
  "kind": "subagent.said";
  "block": string;
  "parent": string;
  "text": string;
};

/** Work was handed to another agent, on this model. */
export type SubAgentStarted = {
  "kind": "subagent.started";
  "parent": string;
  "agent": string;
  "model"?: string | null;
};

/** What an approval is about: of these, the fields that the request has. */
export type Subject = {
  "command"?: string | null;
  "diff"?: string | null;
  "path"?: string | null;
  "address"?: string | null;
  "arguments": string;
};

/** The model's service is at its limit. With a person's yes the session goes on with whatever model the service chooses (`auto`). */
export type SwitchAsked = {
  "kind": "switch.asked";
  "item": string;
  "model": string;
  "reason"?: string | null;
  "retry_seconds"?: number | null;
  "prompt"?: string | null;
  "expires_at"?: number | null;
};

/** What the model is told before everything else: exactly one of the three. `append` adds to the usual text, `replace` takes its place, `sections` changes parts of it. */
export type SystemMessageKeys = {
  "append"?: string | null;
  "replace"?: string | null;
  "sections"?: Record<string, SectionKeys | "remove"> | null;
};

/** What is put in the place of the runtime's own text or of sections of it, and what is added behind it. */
export type SystemMessageSetup = {
  "replace"?: string | null;
  "sections": Record<string, SectionChange>;
  "append"?: string | null;
};

/** A task is to be run; this is on disk before anything runs. */
export type TaskAccepted = {
  "kind": "task.accepted";
  "task": string;
  "entry": string;
  "model": string;
  "cwd": string;
  "policy": string;
  "user_input": string;
  "who": string;
  "session"?: string | null;
  "checks_availability": boolean;
  "run"?: string | null;
  "path"?: string | null;
  "previous_tasks": readonly (string)[];
  "rules": number;
  "own_run"?: string | null;
  "trace"?: string | null;
};

/** One field of availability or criteria was looked at: what it holds, and why (not). A condition that could not be asked is neither true nor false; it does not count as held. */
export type TaskChecked = {
  "kind": "task.checked";
  "field": "availability.previousTasks" | "availability.condition" | "criteria.toolExecuted" | "criteria.condition";
  "round": number;
  "holds": boolean;
  "content": string;
  "reason": string;
  "unasked": boolean;
};

/** A decision in words, with one of the prefixes of the entry language. */
export type TaskDecided = {
  "kind": "task.decided";
  "text": string;
};

/** The last event of a task run. */
export type TaskEnded = {
  "kind": "task.ended";
  "outcome": "succeeded" | "failed" | "canceled" | "crashed";
  "reason": string;
  "who"?: string | null;
  "unasked": boolean;
  "usage": Usage;
};

/** The task crashed: something failed that is no outcome of the task. */
export type TaskError = {
  "kind": "task.error";
  "name": string;
  "message": string;
  "stack"?: string | null;
  "cause"?: string | null;
};

/** What it waited for is there. */
export type TaskGoing = {
  "kind": "task.going";
};

/** A task. `prompt` is the beginning of what is asked; `permissions` is the policy that holds for it; `model` is its own, or the driving one, which a job may override. */
export type TaskItem = {
  "name": string;
  "requireUserInput": boolean;
  "description"?: string | null;
  "prompt": string;
  "about": string;
  "model": string;
  "permissions": string;
  "criteria": string;
};

/** One task of the job. What it concluded is the first paragraph of what its agent said last; of a task that was not run, why not. Times are those of all its rounds, without pauses. */
export type TaskLine = {
  "work": number;
  "name": string;
  "task": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled" | "not-run" | "not-needed" | "not-yet";
  "conclusion": string;
  "is_condition": boolean;
  "answer"?: boolean | null;
  "task_run"?: string | null;
  "session"?: string | null;
  "rounds": number;
  "attempts": number;
  "worked_ms": number;
  "waited_for_person_ms": number;
  "usage": Usage;
};

/** The tasks of the entry in use; none before one was installed. */
export type TaskList = {
  "items": readonly (TaskItem)[];
};

/** The criteria do not hold, or could not be asked, and the prompt is sent again. */
export type TaskRetrying = {
  "kind": "task.retrying";
  "retry": number;
  "of": number;
  "reason": string;
  "unasked": boolean;
};

/** A task run with all that it did: its decisions, checks and attempts. */
export type TaskRunDetail = {
  "user_input": string;
  "decisions": readonly (Decision)[];
  "checks": readonly (FieldCheck)[];
  "attempts": readonly (Attempt)[];
  "task_sessions": readonly (TaskSession)[];
  "id": string;
  "state": "running" | "succeeded" | "failed" | "canceled" | "crashed";
  "task": string;
  "entry": string;
  "model": string;
  "cwd": string;
  "policy": string;
  "who": string;
  "created_at": number;
  "updated_at": number;
  "seq": number;
  "session"?: string | null;
  "sessions": readonly (string)[];
  "opened": readonly (string)[];
  "missions": number;
  "crashes": number;
  "retries": number;
  "usage": Usage;
  "run"?: string | null;
  "path"?: string | null;
  "own_run"?: string | null;
  "waits_for"?: string | null;
  "for_person"?: boolean | null;
  "worked_ms": number;
  "working_since"?: number | null;
  "doing": string;
  "reason"?: string | null;
  "unasked": boolean;
  "ended_at"?: number | null;
};

/** Task runs, newest first. */
export type TaskRunList = {
  "items": readonly (TaskRunView)[];
  "next_cursor"?: string | null;
};

/** One task run as of `seq`. */
export type TaskRunView = {
  "id": string;
  "state": "running" | "succeeded" | "failed" | "canceled" | "crashed";
  "task": string;
  "entry": string;
  "model": string;
  "cwd": string;
  "policy": string;
  "who": string;
  "created_at": number;
  "updated_at": number;
  "seq": number;
  "session"?: string | null;
  "sessions": readonly (string)[];
  "opened": readonly (string)[];
  "missions": number;
  "crashes": number;
  "retries": number;
  "usage": Usage;
  "run"?: string | null;
  "path"?: string | null;
  "own_run"?: string | null;
  "waits_for"?: string | null;
  "for_person"?: boolean | null;
  "worked_ms": number;
  "working_since"?: number | null;
  "doing": string;
  "reason"?: string | null;
  "unasked": boolean;
  "ended_at"?: number | null;
};

/** A session that the task opened, and how it went. */
export type TaskSession = {
  "session": string;
  "model": string;
  "is_driving": boolean;
  "started_at": number;
  "stopped_at"?: number | null;
  "succeeded"?: boolean | null;
};

/** A session of the task's own could not be opened. */
export type TaskSessionFailed = {
  "kind": "task.session.failed";
  "model": string;
  "is_driving": boolean;
  "outcome": "crashed" | "refused";
  "reason": string;
};

/** The task opened a session of its own. */
export type TaskSessionStarted = {
  "kind": "task.session.started";
  "session": string;
  "model": string;
  "is_driving": boolean;
};

/** A session of the task's own was closed. It has succeeded where the task has; one that was opened for a single condition, where that holds; for a single prompt, where that was done. */
export type TaskSessionStopped = {
  "kind": "task.session.stopped";
  "session": string;
  "succeeded": boolean;
};

/** A task that was started by itself waits, and says what for. */
export type TaskWaiting = {
  "kind": "task.waiting";
  "reason": string;
  "for_person": boolean;
};

/** A file as it is now. `cut`: only its beginning is here. Secrets that the server knows are taken out. */
export type TextFile = {
  "path": string;
  "text": string;
  "bytes": number;
  "cut": boolean;
};

/** A named token came, went, or got another role or end. */
export type TokenChanged = {
  "kind": "audit.token.changed";
  "by": Actor;
  "change": "added" | "removed" | "changed";
  "token": TokenFacts;
  "changed_at": number;
};

/** What is known of a named token, which is not the token itself. */
export type TokenFacts = {
  "name": string;
  "role": "view" | "operate" | "decide" | "own";
  "until"?: number | null;
};

/** A job tool that was called and completed with success. */
export type ToolCall = {
  "tool": string;
  "argument": string;
};

export type ToolDelta = {
  "block": string;
  "offset": number;
  "text": string;
  "kind": "tool.delta";
};

/** `text` is all that the tool's deltas said. A result's content is that same text. Of an output that was too long, `left_out` counts the characters for which a mark stands in the text. */
export type ToolEnded = {
  "kind": "tool.ended";
  "block": string;
  "text": string;
  "result"?: ToolResult | null;
  "error"?: ToolError | null;
  "cut": boolean;
  "left_out"?: number | null;
  "extension"?: string | null;
};

/** Why a tool failed. */
export type ToolError = {
  "message": string;
  "code"?: string | null;
};

/** It waits no longer for that. */
export type ToolGoing = {
  "kind": "tool.going";
  "block": string;
};

/** Which tools there are: names, globs, groups such as `@read`, and `SERVER/TOOL`. */
export type ToolKeys = {
  "allow"?: readonly (string)[] | null;
  "deny"?: readonly (string)[] | null;
  "search"?: "auto" | "on" | "off" | null;
  "github"?: boolean | null;
};

/** Without `allow` all are allowed; with an empty one, none but ours. */
export type ToolList = {
  "allow"?: readonly (string)[] | null;
  "deny": readonly (string)[];
};

/** What a tool gave back: the text, and a longer form of it where there is one. Of a diff of one file that was cut, `added` and `removed` count the lines of all of it. */
export type ToolResult = {
  "content": string;
  "detailed_content"?: string | null;
  "added"?: number | null;
  "removed"?: number | null;
};

/** Which tools the agents have: those that every list allows. Sub-agents have no others. */
export type ToolSetup = {
  "lists": readonly (ToolList)[];
  "search": "auto" | "on" | "off";
  "github": boolean;
  "of_servers": Record<string, readonly (string)[]>;
};

/** Where the arguments were too long, `lines` has for each text among them how many lines it had before it was cut. */
export type ToolStarted = {
  "block": string;
  "kind": "tool.started";
  "parent"?: string | null;
  "name": string;
  "arguments": string;
  "lines"?: Record<string, number> | null;
  "extension"?: string | null;
};

/** A call was not let through; its tool did not run. */
export type ToolVetoed = {
  "kind": "tool.vetoed";
  "tool": string;
  "block"?: string | null;
  "reason": string;
  "denied": "tool-loop" | "policy" | "hook" | "approval";
};

/** A call waits until an approval is decided that another call waits for, mostly in another session: both edit the same file, and the agent runtime lets one at a time at it. */
export type ToolWaiting = {
  "kind": "tool.waiting";
  "block": string;
  "item": string;
  "title": string;
  "session": string;
  "session_title": string;
};

/** What came of it. Where it did not work, `problem` says why and what to do. */
export type TrialResult = {
  "ok": boolean;
  "problem"?: string | null;
  "cause"?: "key" | "address" | "private" | "dns" | "tls" | "unreachable" | "time" | "redirect" | "too-large" | "garbage" | "cut" | "model" | "busy" | "refused" | null;
  "model"?: string | null;
  "first_word_ms"?: number | null;
  "tokens"?: number | null;
  "models"?: readonly (OfferedByProvider)[] | null;
};

/** One attempt of the task that failed: what its agent said it did, and what the check said. */
export type TriedAttempt = {
  "attempt": number;
  "session": string;
  "said": string;
  "check": string;
  "milliseconds": number;
  "requests": number;
};

/** Files or folders that are trusted from now on, or no longer. */
export type TrustChanged = {
  "kind": "audit.trust.changed";
  "by": Actor;
  "change": "trusted" | "distrusted";
  "paths": readonly (string)[];
  "digest"?: string | null;
};

/** Everything that is trusted, by path. */
export type TrustList = {
  "items": readonly (TrustedPath)[];
};

/** What would be trusted; `digest` stands for all of it, and is given back to trust it. */
export type TrustLook = {
  "path": string;
  "kind": "file" | "folder" | "extension";
  "digest": string;
  "files": readonly (FileToTrust)[];
  "extensions": readonly (ExtensionToTrust)[];
};

/** A file, the folder of an extension, or a folder for all entries and extensions in it, as they were when somebody looked at them. */
export type TrustPath = {
  "path": string;
  "digest": string;
};

/** `current` is false for what changed since: it is not trusted as it is now. Of an extension the version that was trusted still runs. */
export type TrustedPath = {
  "path": string;
  "kind": "file" | "folder" | "extension";
  "digest"?: string | null;
  "who": string;
  "at": number;
  "current": boolean;
};

/** The agent ended its work, with the models that really answered. Its usage is that of the whole turn. */
export type TurnEnded = {
  "kind": "turn.ended";
  "turn": string;
  "outcome": "done" | "failed" | "aborted" | "interrupted";
  "models": readonly (string)[];
  "usage": Usage;
  "replay_safe"?: boolean | null;
  "effects"?: readonly (string)[] | null;
};

/** The model's service failed and is asked again. */
export type TurnRetrying = {
  "kind": "turn.retrying";
  "turn": string;
  "reason": string;
};

/** The agent begins to work; without a prompt where the runtime woke it itself. In the mode `plan` it only reads, until a person approves its plan. */
export type TurnStarted = {
  "kind": "turn.started";
  "turn": string;
  "prompt"?: string | null;
  "mode"?: "plan" | null;
  "trace"?: string | null;
};

/** A model was called: what that took, so that a turn which is cut off is counted too. */
export type TurnUsage = {
  "kind": "turn.usage";
  "turn"?: string | null;
  "usage": Usage;
  "parent"?: string | null;
};

/** What a turn cost, summed over every call that its agent made of a model; of more than one turn, the sum. What the agent's sub-agents took stands apart from it. */
export type Usage = {
  "requests": number;
  "input_tokens": number;
  "output_tokens": number;
  "cached_tokens": number;
  "cost": number;
  "sub_agents": Spent;
  "turns": number;
  "milliseconds": number;
  "multiplier"?: number | null;
};

/** How much a session may use, or a task, or a job. What is left out has no limit. */
export type UsageLimits = {
  "turns"?: number | null;
  "tokens"?: number | null;
  "cost"?: number | null;
  "minutes"?: number | null;
  "idle_minutes"?: number | null;
};

/** What waits, oldest first, as of `seq`: follow the stream from there. */
export type Waiting = {
  "items": readonly (InboxItem)[];
  "seq": number;
};

/** A call that waits until another's approval is decided: both edit the same file. */
export type WaitingCall = {
  "block": string;
  "item": string;
  "title": string;
  "session": string;
  "session_title": string;
};

/** One that nobody works on. `held_by`: the machine that had it last. */
export type WaitingRun = {
  "id": string;
  "kind": string;
  "job": string;
  "title": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "started_at": number;
  "done": number;
  "working": readonly (string)[];
  "waits_for"?: string | null;
  "cwd": string;
  "can_move": boolean;
  "held_by"?: string | null;
};

/** A task of the job was cut off by the run's end; this is what it had used. */
export type WorkCut = {
  "kind": "run.work.cut";
  "path": string;
  "task_run": string;
  "usage": Usage;
};

/** What a task waited for is there. */
export type WorkGoing = {
  "kind": "run.work.going";
  "path": string;
};

/** One execution of a work, as far as it came. */
export type WorkRecord = {
  "work": number;
  "path": string;
  "task": string;
  "task_run": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "started_at": number;
  "ended_at"?: number | null;
  "waits_for"?: string | null;
  "retried_at": readonly (number)[];
  "retries"?: number | null;
  "unasked": boolean;
  "usage": Usage;
  "conclusion": string;
  "worked_ms": number;
  "working_since"?: number | null;
};

/** What a task of the job did was not enough, and it tries again. */
export type WorkRetrying = {
  "kind": "run.work.retrying";
  "path": string;
  "task_run": string;
  "retry": number;
  "of": number;
};

/** A task of the job began. `path` is its place in the tree, with the round of each loop. */
export type WorkStarted = {
  "kind": "run.work.started";
  "work": number;
  "path": string;
  "task": string;
  "task_run": string;
};

/** A task of the job ended. */
export type WorkStopped = {
  "kind": "run.work.stopped";
  "work": number;
  "path": string;
  "task_run": string;
  "succeeded": boolean;
  "unasked": boolean;
  "usage": Usage;
  "conclusion": string;
};

/** A task of the job waits, and says what for. */
export type WorkWaiting = {
  "kind": "run.work.waiting";
  "path": string;
  "reason": string;
  "for_person": boolean;
};

/** A worker: one process, from its start to its end. A machine that starts anew has another. */
export type WorkerFacts = {
  "id": string;
  "name": string;
  "host": string;
  "pid": number;
  "version": string;
  "state": "alive" | "draining" | "left" | "lost";
  "is_here": boolean;
  "has_pages": boolean;
  "beat_age_ms"?: number | null;
  "is_heard": boolean;
  "takeover_ms"?: number | null;
  "seen_at": number;
  "slots": number;
  "slots_used": number;
  "runs": readonly (WorkerRun)[];
  "labels": readonly (string)[];
  "roots": readonly (string)[];
  "shared_roots": readonly (string)[];
  "clock_offset_ms": number;
  "began_at"?: number | null;
  "ended_at"?: number | null;
  "runs_left": number;
};

/** Those that live first, then those that were heard of last. */
export type WorkerList = {
  "items": readonly (WorkerFacts)[];
  "waiting": readonly (WaitingRun)[];
  "is_shared": boolean;
  "max_tasks_all"?: number | null;
  "tasks_waiting": number;
  "lease_ms"?: number | null;
  "database"?: string | null;
  "answered_ms"?: number | null;
};

/** A run that has not ended, as one who looks at machines needs it. */
export type WorkerRun = {
  "id": string;
  "kind": string;
  "job": string;
  "title": string;
  "state": "waiting" | "running" | "waiting-for-person" | "succeeded" | "failed" | "canceled";
  "started_at": number;
  "done": number;
  "working": readonly (string)[];
  "waits_for"?: string | null;
  "cwd": string;
  "can_move": boolean;
};
