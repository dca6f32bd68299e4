/** Reads JSON without trusting it: a field that is missing or of another kind is null, never an error. */

import type { Entry, Session, SessionPage, Status } from "./types";

type Fields = Record<string, unknown>;

const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const text = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

/** Times come as ISO 8601 or as milliseconds. */
export function readTime(value: unknown): number | null {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && Number.isFinite(time) ? time : null;
}

export function readStatus(body: unknown): Status {
  const status = fields(body);
  const copilot = fields(status.copilot);
  return {
    version: text(status.version),
    rehearsal: fields(status.rehearsal).on === true,
    policy: text(status.policy),
    copilot: {
      signedIn: typeof copilot.signed_in === "boolean" ? copilot.signed_in : null,
      login: text(copilot.login),
      how: text(copilot.how),
      detail: text(copilot.detail),
    },
    entry: readEntry(status.entry),
  };
}

function readEntry(body: unknown): Entry | null {
  const entry = fields(body);
  const source = text(entry.source);
  if (source === null) return null;
  return { source, path: text(entry.path), problem: text(entry.problem) };
}

export function readSessions(body: unknown): SessionPage {
  const page = fields(body);
  const items = Array.isArray(page.items) ? page.items : [];
  return {
    sessions: items.map(readSession).filter((session) => session !== null),
    more: text(page.next_cursor) !== null,
  };
}

function readSession(item: unknown): Session | null {
  const session = fields(item);
  const id = text(session.id);
  if (id === null) return null;
  return {
    id,
    state: text(session.state) ?? "unknown",
    title: text(session.title),
    model: text(session.model),
    cwd: text(session.cwd),
    updatedAt: readTime(session.updated_at) ?? readTime(session.created_at),
  };
}

/** The sentence of an `application/problem+json`. */
export function readProblem(body: unknown): string | null {
  const problem = fields(body);
  return text(problem.detail) ?? text(problem.title);
}

export function readMessage(body: unknown): string | null {
  return text(fields(body).message);
}
