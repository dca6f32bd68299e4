/** Asks the server. Every answer is a value, a missing one too: callers have no error to catch. */

import { judged } from "./access";

export type Answer<Body = unknown> =
  | { kind: "ok"; body: Body }
  | { kind: "refused"; detail: string | null }
  | {
      kind: "failed";
      status: number;
      detail: string;
      /** For programs; it never changes. */
      code?: string;
      /** What was probably meant, after a slip of the pen. */
      suggestion?: string;
    }
  | { kind: "lost" };

const PATIENCE_MS = 8_000;

export const get = <Body>(path: string, patience = PATIENCE_MS): Promise<Answer<Body>> =>
  ask(path, {}, patience);

export const post = <Body>(
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
  patience = PATIENCE_MS,
): Promise<Answer<Body>> => send("POST", path, body, headers, patience);

export const put = <Body>(path: string, body: unknown): Promise<Answer<Body>> =>
  send("PUT", path, body);

export const patch = <Body>(path: string, body: unknown): Promise<Answer<Body>> =>
  send("PATCH", path, body);

export const remove = <Body>(path: string): Promise<Answer<Body>> =>
  ask(path, { method: "DELETE" });

const send = <Body>(
  method: string,
  path: string,
  body: unknown,
  headers = {},
  patience = PATIENCE_MS,
) =>
  ask<Body>(
    path,
    {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    },
    patience,
  );

async function ask<Body>(
  path: string,
  init: RequestInit,
  patience = PATIENCE_MS,
): Promise<Answer<Body>> {
  try {
    const signal = AbortSignal.timeout(patience);
    const response = await fetch(path, { ...init, signal, credentials: "same-origin" });
    const text = await response.text();
    judged(response.status);
    return judge<Body>(response.status, parsed(text));
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

export function judge<Body>(status: number, body: unknown): Answer<Body> {
  if (status >= 200 && status < 300) return { kind: "ok", body: body as Body };
  const detail = problem(body);
  if (status === 401) return { kind: "refused", detail };
  const { code, suggestion } = (body ?? {}) as { code?: unknown; suggestion?: unknown };
  return {
    kind: "failed",
    status,
    detail: detail ?? `It answered with status ${status}.`,
    ...(typeof code === "string" && { code }),
    ...(typeof suggestion === "string" && { suggestion }),
  };
}

/** The sentence of an `application/problem+json`. */
function problem(body: unknown): string | null {
  const { detail, title } = (body ?? {}) as { detail?: unknown; title?: unknown };
  if (typeof detail === "string" && detail !== "") return detail;
  return typeof title === "string" && title !== "" ? title : null;
}

/** Why there is no body, and what comes next, for people. */
export function whyNot(answer: Exclude<Answer, { kind: "ok" }>): string {
  switch (answer.kind) {
    case "lost":
      return "The server does not answer. Nothing was changed as far as we know; try again.";
    case "refused":
      return answer.detail ?? "You are signed out. Open a new address from `airboss link`.";
    case "failed":
      return answer.detail;
  }
}
