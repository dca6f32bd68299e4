/** What the Start page knows, and how that changes. Pure: no clock, no network. */

import type { Entry, SessionPage, Status } from "../api/types";

export type Start = {
  gate: "asking" | "in" | "out";
  /** Why the last code was not taken. */
  refusal: string | null;
  status: Status | null;
  page: SessionPage;
  /** When the server last told us how things are. */
  heardAt: number | null;
  /** Why the last try failed; null when it did not. */
  trouble: Trouble | null;
};

export type Trouble = { kind: "lost" } | { kind: "failed"; detail: string };

export type Happening =
  | { kind: "heard"; at: number; status: Status; page: SessionPage }
  | { kind: "code refused"; detail: string | null }
  | { kind: "signed out" }
  | { kind: "trouble"; trouble: Trouble };

export const NOTHING_YET: Start = {
  gate: "asking",
  refusal: null,
  status: null,
  page: { sessions: [], more: false },
  heardAt: null,
  trouble: null,
};

export function reduce(start: Start, happening: Happening): Start {
  switch (happening.kind) {
    case "heard":
      return {
        gate: "in",
        refusal: null,
        status: happening.status,
        page: happening.page,
        heardAt: happening.at,
        trouble: null,
      };
    case "code refused":
      return { ...start, refusal: happening.detail ?? "The server did not take this code." };
    case "signed out": // and what was on the page goes: it is not for whoever sits here now
      return { ...NOTHING_YET, gate: "out", refusal: start.refusal };
    case "trouble":
      return { ...start, trouble: happening.trouble };
  }
}

export type Freshness =
  | { kind: "connecting" }
  | { kind: "unreachable" }
  | { kind: "live" }
  | { kind: "reconnecting"; seconds: number }
  | { kind: "stale"; since: number };

const LIVE_FOR_MS = 15_000;
const STALE_AFTER_MS = 30_000;

export function freshness(start: Start, now: number): Freshness {
  if (start.heardAt === null) {
    return { kind: start.trouble === null ? "connecting" : "unreachable" };
  }
  const age = now - start.heardAt;
  if (age > STALE_AFTER_MS) return { kind: "stale", since: start.heardAt };
  if (start.trouble === null && age <= LIVE_FOR_MS) return { kind: "live" };
  return { kind: "reconnecting", seconds: Math.max(1, Math.round(age / 1000)) };
}

/** What agents may do here, in a sentence. */
export function policyInWords(policy: string): string {
  switch (policy) {
    case "read-only":
      return "Agents may read below their working directory. All else is denied.";
    case "approve-all":
      return "Agents may do everything without asking.";
    case "deny-all":
      return "Agents may use no tool that needs a permission.";
    case "ask":
      return "Agents ask before they change anything.";
    default:
      return policy;
  }
}

/** Where the entry came from. */
export function entryInWords({ source, path }: Entry): string {
  switch (source) {
    case "built-in":
      return "The built-in one. Write an airboss.yaml for your own.";
    case "test":
      return `${path ?? "One"}, installed for a test`;
    case "api":
      return path === null ? "Installed until the server ends" : `${path}, until the server ends`;
    default:
      return path ?? source;
  }
}
