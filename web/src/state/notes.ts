/** What happened to a session, in words. */

import type { Event, NoteBlock } from "./types";

type Note = Pick<NoteBlock, "tone" | "title" | "text">;

function told(tone: Note["tone"], title: string, text: string): Note {
  return { tone, title, text };
}

export const ASKED_AGAIN = "Retrying the model";
export const FAILED = "The turn failed";

function switched(event: Extract<Event, { kind: "session.changed" }>): string {
  const said = [
    event.model && `model ${event.model}`,
    event.reasoning_effort && `effort ${event.reasoning_effort}`,
    event.policy && `permissions ${event.policy}`,
  ];
  return `${said.filter(Boolean).join(", ")}. By ${event.who}.`;
}

function compacted(event: Extract<Event, { kind: "compaction.ended" }>): Note | null {
  if (event.error != null) return told("warning", "The history was not compacted", event.error);
  const { removed = 0, before, after } = event;
  if (removed === 0) return null;
  const messages = removed === 1 ? "1 message" : `${removed} messages`;
  const sizes = after == null ? "" : `: ${before ?? "?"} tokens before, ${after} now`;
  return told("info", "The history was compacted", `A summary stands for ${messages}${sizes}.`);
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
      return told("info", "From the next turn on", switched(event));
    case "compaction.ended":
      return compacted(event);
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
