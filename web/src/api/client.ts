/** Asks the server. Every answer is a value, a missing one too: callers have no error to catch. */

import { judged, whyEnded } from "./access";
import { learnTime } from "./clock";
import { ownKey } from "./key";
import { doubted } from "./role";

export type Answer<Body = unknown> =
  | {
      kind: "ok";
      body: Body;
      /** As of which change of what lists show: larger than that of every earlier answer with less in it. */
      lists?: number;
    }
  | { kind: "refused"; detail: string | null; code?: string }
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
const FILE_PATIENCE_MS = 600_000;

export const get = <Body>(path: string, patience = PATIENCE_MS): Promise<Answer<Body>> =>
  ask(path, {}, patience);

/** As `get`, but its answer neither opens nor closes the page. */
export const getAside = <Body>(path: string): Promise<Answer<Body>> =>
  ask(path, {}, PATIENCE_MS, () => {});

export const post = <Body>(
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
  patience = PATIENCE_MS,
): Promise<Answer<Body>> => send("POST", path, body, headers, patience);

/** As `post`, but its answer neither opens nor closes the page. */
export const postAside = <Body>(path: string, body: unknown): Promise<Answer<Body>> =>
  send("POST", path, body, {}, PATIENCE_MS, () => {});

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
  tell = judged,
) =>
  ask<Body>(
    path,
    {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    },
    patience,
    tell,
  );

async function ask<Body>(
  path: string,
  init: RequestInit,
  patience = PATIENCE_MS,
  tell = judged,
): Promise<Answer<Body>> {
  try {
    const response = await call(path, init, patience);
    return await heard<Body>(response, tell);
  } catch {
    return { kind: "lost" };
  }
}

/** A file, by the name that the server gives it. */
export async function file(path: string): Promise<Answer<{ blob: Blob; name: string }>> {
  try {
    const response = await call(path, {}, FILE_PATIENCE_MS);
    if (!response.ok) return await heard(response, judged);
    const blob = await response.blob();
    judged(response.status);
    const told = response.headers.get("Content-Disposition") ?? "";
    return { kind: "ok", body: { blob, name: /filename="([^"]+)"/.exec(told)?.[1] ?? "" } };
  } catch {
    return { kind: "lost" };
  }
}

async function call(path: string, init: RequestInit, patience: number): Promise<Response> {
  const signal = AbortSignal.timeout(patience);
  const headers = { ...ownKey(), ...init.headers };
  const asked = Date.now();
  const response = await fetch(path, { ...init, headers, signal, credentials: "same-origin" });
  learnTime(response.headers.get("Date"), asked, Date.now());
  return response;
}

async function heard<Body>(response: Response, tell: typeof judged): Promise<Answer<Body>> {
  const answer = judge<Body>(response.status, parsed(await response.text()));
  tell(response.status, answer.kind === "refused" ? whyEnded(answer) : null);
  if (answer.kind === "failed" && answer.code === "role_needed") doubted.value += 1;
  const lists = response.headers.get("X-Airboss-Lists");
  return answer.kind === "ok" && lists !== null ? { ...answer, lists: Number(lists) } : answer;
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
  const { code, suggestion } = (body ?? {}) as { code?: unknown; suggestion?: unknown };
  const named = typeof code === "string" && { code };
  if (status === 401) return { kind: "refused", detail, ...named };
  return {
    kind: "failed",
    status,
    detail: detail ?? `The server returned status ${status}. Try again.`,
    ...named,
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
      return "The server is not responding. Check that it is running, then try again.";
    case "refused":
      return (
        answer.detail ??
        "You are signed out. To sign in, run `airboss link` and open the address it prints."
      );
    case "failed":
      return answer.detail;
  }
}
