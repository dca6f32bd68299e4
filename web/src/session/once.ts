/** What hardly ever changes while a page is open: asked for until it is there. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { get } from "../api/client";

const AGAIN_MS = 2_000;

export function once<Body>(path: string): ReadonlySignal<Body | null> {
  const body = signal<Body | null>(null);
  async function ask(): Promise<void> {
    const answer = await get<Body>(path);
    if (answer.kind === "ok") body.value = answer.body;
    else if (answer.kind === "lost") setTimeout(() => void ask(), AGAIN_MS);
  }
  void ask();
  return body;
}
