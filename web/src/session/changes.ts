/** Which files a session changed. Asked for again a moment after a tool has ended. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { get } from "../api/client";
import type { Changes as Answer } from "../api/types.gen";
import type { SessionState } from "../state/types";

const MOMENT_MS = 700;

export type Changes = Answer & { loaded: boolean };

/** What ends the watching is answered too. */
export function watchChanges(
  id: string,
  session: ReadonlySignal<SessionState>,
): { changes: ReadonlySignal<Changes>; stop: () => void } {
  const changes = signal<Changes>({ files: [], more: false, loaded: false });
  let planned: ReturnType<typeof setTimeout> | null = null;
  let known = -1;
  async function ask(): Promise<void> {
    planned = null;
    const answer = await get<Answer>(`/api/v1/sessions/${id}/changes`);
    if (answer.kind === "ok") changes.value = { ...answer.body, loaded: true };
  }
  const unwatch = effect(() => {
    const state = session.value;
    if (state.view === null) return;
    const ended = endedTools(state);
    if (ended === known) return;
    known = ended;
    planned ??= setTimeout(() => void ask(), changes.peek().loaded ? MOMENT_MS : 0);
  });
  return {
    changes,
    stop: () => {
      unwatch();
      if (planned !== null) clearTimeout(planned);
    },
  };
}

function endedTools({ blocks }: SessionState): number {
  let count = 0;
  for (const block of blocks.values()) if (block.kind === "tool" && !block.receiving) count += 1;
  return count;
}

/** A path inside the working directory is told from there. */
export const within = (path: string, folder: string): string =>
  path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
