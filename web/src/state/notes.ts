/** What happened to a session, in words. */

import type { Event, NoteBlock } from "./types";

type Note = Pick<NoteBlock, "tone" | "title" | "text">;

function told(tone: Note["tone"], title: string, text: string): Note {
  return { tone, title, text };
}

export const ASKED_AGAIN = "Retrying the model";
const FORGOTTEN = "It does not remember what was said before.";
export const FAILED = "The turn failed";

function switched(event: Extract<Event, { kind: "session.changed" }>): string {
  const limited = event.instead_of != null ? ` (${event.instead_of} is at its rate limit)` : "";
  const said = [
    event.model && `model ${event.model}${limited}`,
    event.reasoning_effort && `effort ${event.reasoning_effort}`,
    event.policy && `permissions ${event.policy}`,
  ];
  return `${said.filter(Boolean).join(", ")}. By ${event.who}.`;
}

function forked(event: Extract<Event, { kind: "session.forked" }>): string {
  const where =
    event.source != null ? `A copy of ${event.source}` : `Copied into ${event.copy_id ?? "?"}`;
  return `${where}. By ${event.who}.`;
}

function compacted(event: Extract<Event, { kind: "compaction.ended" }>): Note | null {
  if (event.error != null) return told("warning", "The history was not compacted", event.error);
  const { removed = 0, before, after } = event;
  if (removed === 0) return null;
  const messages = removed === 1 ? "1 message" : `${removed} messages`;
  const sizes = after == null ? "" : `: ${before ?? "?"} tokens before, ${after} now`;
  return told("info", "The history was compacted", `A summary replaces ${messages}${sizes}.`);
}

/** One that works is nothing to tell. */
function serverNote({ server, state, error }: Extract<Event, { kind: "mcp.changed" }>) {
  const text = error ?? "";
  if (state === "failed") return told("warning", `The MCP server ${server} failed`, text);
  if (state === "starting" && text !== "")
    return told("warning", `The MCP server ${server} is slow to start`, text);
  if (state === "connected" && text !== "")
    return told("warning", `Tools of the MCP server ${server}`, text);
  return state === "needs-sign-in"
    ? told("info", `The MCP server ${server} needs a sign-in`, text)
    : null;
}

/** What a hook left as it was is in the log only. */
function ran(event: Extract<Event, { kind: "hook.ran" }>): Note | null {
  const who = `Hook ${event.hook}: ${event.program}`;
  if (event.error != null) return told("warning", who, event.error);
  const why = event.reason || "no reason was given";
  switch (event.decided) {
    case "changed":
      return told("info", who, `It made a change, in ${event.milliseconds} ms.`);
    case "blocked":
      return told("warning", who, `It blocked the request: ${why}`);
    case "asked":
      return told("info", who, `It asked for a decision by a person: ${why}`);
    default:
      return null;
  }
}

type ExtensionEvent = Extract<
  Event,
  { kind: "extension.said" | "extension.refused" | "extension.ended" }
>;

/** What becomes of it. The fifth crash is the last, and only a reload starts it then. */
const afterCrash = (restart_in: number | null | undefined): string =>
  restart_in == null
    ? "It does not restart by itself. Fix it, then reload the extensions."
    : `It restarts after ${restart_in} s.`;

/** One that is started and stopped in order is nothing to tell. */
function extensionNote(event: ExtensionEvent): Note | null {
  const title = `Extension ${event.name}`;
  switch (event.kind) {
    case "extension.said":
      return told(event.level ?? "info", title, event.text);
    case "extension.refused":
      return told("warning", `${title} does not run`, event.reason);
    default: {
      if (!event.crashed) return null;
      const what = event.restart_in == null ? "failed" : "crashed";
      return told(
        "warning",
        `${title} ${what}`,
        `${event.reason}\n${afterCrash(event.restart_in)}`,
      );
    }
  }
}

/** None where it is shown otherwise, or is nothing to tell. */
export function noteOf(event: Event): Note | null {
  switch (event.kind) {
    case "session.error":
      return told("error", event.name, event.message);
    case "session.interrupted":
      return told("warning", "Interrupted", event.reason);
    case "session.resumed":
      return told("info", "Resumed", `By ${event.who}.`);
    case "session.restarted":
      return told("warning", "The agent started over", `${event.why} ${FORGOTTEN}`);
    case "session.forked":
      return told("info", "Forked", forked(event));
    case "session.closed":
      return told("info", "Closed", event.reason);
    case "turn.retrying":
      return told("warning", ASKED_AGAIN, event.reason);
    case "turn.ended":
      if (event.outcome === "failed") return told("error", FAILED, "");
      return event.outcome === "aborted" ? told("info", "Stopped", "") : null;
    case "prompt.dropped":
      return told("warning", "A message was dropped", event.reason);
    case "loop.noticed":
      return told(
        event.level === "critical" ? "error" : "warning",
        "The agent is repeating itself",
        event.text,
      );
    case "aside.answered":
      return told("info", "Side question", `${event.who}: ${event.question}\n\n${event.answer}`);
    case "session.changed":
      return told(
        "info",
        event.instead_of != null ? "From now on" : "From the next turn on",
        switched(event),
      );
    case "account.changed": {
      const before = event.from ?? "the one before";
      return told("warning", `Account ${event.to}`, `Instead of ${before}: ${event.why}.`);
    }
    case "compaction.ended":
      return compacted(event);
    case "mcp.changed":
      return serverNote(event);
    case "skill.invoked":
      if (event.parent != null || !event.preloaded) return null;
      return told("info", `Skill ${event.name}`, event.description ?? "");
    case "hook.ran":
      return ran(event);
    case "extension.said":
    case "extension.refused":
    case "extension.ended":
      return extensionNote(event);
    case "cage.limit":
      return told("error", "The cage was ended", event.text);
    case "egress.refused":
      return told("warning", `Not connected: ${event.host}`, event.why);
    case "tool.vetoed":
      return told("warning", `Blocked: ${event.tool}`, event.reason);
    case "permission.decided":
      // A person's no stands in what the person was asked.
      if (event.allowed || /^(person|nobody)/.test(event.by)) return null;
      return told("warning", `Denied: ${event.wish} ${event.about}`, event.reason);
    default:
      return null;
  }
}
