/** A run, and a run of one task. */

import { get } from "../api/client";
import type { RunDetail } from "../api/types.gen";
import { runDigest, runPieces, taskDigest } from "../state/digest";
import { reduceRun } from "../state/run";
import { reduceTask } from "../state/task";
import type { TaskState } from "../state/types";
import { readBehind, resource } from "./pages";
import { type Watched, watch } from "./watched";

/** From the server's own snapshot: a run may have had a hundred thousand events. */
export function watchRun(id: string): Watched<RunDetail | null> {
  return watch<RunDetail | null>({
    stream: id,
    empty: null,
    load: async () => {
      const answer = await get<RunDetail>(resource(id));
      if (answer.kind !== "ok") return answer;
      return { kind: "ok", body: { state: answer.body, after: answer.body.seq } };
    },
    reduce: (run, events) => reduceRun(run, events, id),
    isAnswer: true,
    pieces: (run) => (run === null ? [] : runPieces(run)),
    digest: (run) => run && { seq: run.seq, digest: runDigest(run) },
  });
}

/** From its first event: it has few, and they tell which session was opened when. */
export function watchTaskRun(id: string): Watched<TaskState | null> {
  return watch<TaskState | null>({
    stream: id,
    empty: null,
    load: async () => {
      const found = await get<unknown>(resource(id));
      if (found.kind !== "ok") return found;
      const all = await readBehind(id, 0);
      if (all === null) return { kind: "lost" };
      return {
        kind: "ok",
        body: { state: reduceTask(null, all, id), after: all.at(-1)?.seq ?? 0 },
      };
    },
    reduce: (task, events) => reduceTask(task, events, id),
    digest: (task) => task && { seq: task.seq, digest: taskDigest(task) },
  });
}
