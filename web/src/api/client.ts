/** Asks the server. Every answer is a value, a missing one too: callers have no error to catch. */

import { readProblem } from "./read";

export type Answer =
  | { kind: "ok"; body: unknown }
  | { kind: "refused"; detail: string | null }
  | { kind: "failed"; detail: string }
  | { kind: "lost" };

const PATIENCE_MS = 8_000;

export const get = (path: string): Promise<Answer> => ask(path, {});

export const post = (path: string, body: unknown): Promise<Answer> =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

async function ask(path: string, init: RequestInit): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(path, { ...init, signal, credentials: "same-origin" });
    return judge(response.status, parsed(await response.text()));
  } catch {
    return { kind: "lost" };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function judge(status: number, body: unknown): Answer {
  if (status >= 200 && status < 300) return { kind: "ok", body };
  const detail = readProblem(body);
  if (status === 401) return { kind: "refused", detail };
  return { kind: "failed", detail: detail ?? `It answered with status ${status}.` };
}
