/** Starts a job, and goes to its page. */

import { type Answer, post } from "../api/client";
import { newKey } from "../api/keys";
import type { RunView } from "../api/types.gen";
import { runAddress } from "../start/rows";

export type RunRequest = { job: string; input: string; cwd: string };
export type Begun =
  | { kind: "begun"; address: string }
  | { kind: "not"; answer: Exclude<Answer, { kind: "ok" }> };

/** One request keeps its name until the server has said yes or no: asked twice, it is done once. */
let asked: { request: string; key: string } | null = null;

function keyFor(request: RunRequest): string {
  const text = JSON.stringify(request);
  if (asked?.request !== text) asked = { request: text, key: newKey() };
  return asked.key;
}

export async function begin(request: RunRequest): Promise<Begun> {
  const answer = await post<RunView>("/api/v1/runs", request, {
    "Idempotency-Key": keyFor(request),
  });
  if (answer.kind !== "lost") asked = null;
  if (answer.kind !== "ok") return { kind: "not", answer };
  return { kind: "begun", address: runAddress(request.job, answer.body.id) };
}
