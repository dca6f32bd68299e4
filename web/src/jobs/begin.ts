/** Starts a job, and opens its page in a window of its own. */

import { type Answer, post } from "../api/client";
import { newKey } from "../api/keys";
import type { RunView } from "../api/types.gen";
import { runAddress } from "../start/rows";

export type RunRequest = { job: string; input: string; cwd: string };
export type Begun =
  | { kind: "opened"; address: string }
  /** It runs, but the browser did not let us open a window. */
  | { kind: "blocked"; address: string }
  | { kind: "not"; answer: Exclude<Answer, { kind: "ok" }> };

/** One request keeps its name until the server has said yes or no: asked twice, it is done once. */
let asked: { request: string; key: string } | null = null;

function keyFor(request: RunRequest): string {
  const text = JSON.stringify(request);
  if (asked?.request !== text) asked = { request: text, key: newKey() };
  return asked.key;
}

/** Called in the click itself: a window that is opened later is taken for an advertisement. */
export async function begin(request: RunRequest, name: string): Promise<Begun> {
  const opened = window.open("about:blank", "_blank");
  if (opened !== null) {
    opened.document.title = `Starting ${name} …`;
    opened.document.body.textContent = `Starting ${name} …`;
  }
  const answer = await post<RunView>("/api/v1/runs", request, {
    "Idempotency-Key": keyFor(request),
  });
  if (answer.kind !== "lost") asked = null;
  if (answer.kind !== "ok") {
    opened?.close();
    return { kind: "not", answer };
  }
  const address = runAddress(request.job, answer.body.id);
  if (opened === null || opened.closed) return { kind: "blocked", address };
  opened.location.replace(address);
  return { kind: "opened", address };
}
