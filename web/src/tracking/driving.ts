/** What the tab `Driving` shows: the task's decisions among what its driving sessions said. Pure. */

import type { Block, SessionState, TaskSession, TaskState, TextBlock } from "../state/types";

export type Tab = {
  /** 0 is the driving one, then the attempts. */
  number: number;
  name: string;
  sessions: readonly string[];
  /** Of an attempt: whether its criteria held; null while nobody knows. */
  succeeded: boolean | null;
  running: boolean;
};

export function tabsOf(task: TaskState): Tab[] {
  const own = task.task_sessions;
  const borrowed = task.session ? [task.session] : [];
  const driving: Tab = {
    number: 0,
    name: "Driving",
    sessions: [...borrowed, ...own.filter((one) => one.is_driving).map((one) => one.session)],
    succeeded: null,
    running: false,
  };
  const attempts = own.filter((one) => !one.is_driving);
  return [driving, ...attempts.map((one, index) => attemptTab(task, one, index, attempts))];
}

function attemptTab(
  task: TaskState,
  one: TaskSession,
  index: number,
  all: readonly TaskSession[],
): Tab {
  const isLast = index === all.length - 1;
  const isOver = one.stopped_at !== null || task.ended_at != null;
  const failed = isOver && (!isLast || task.state === "failed" || task.state === "crashed");
  const succeeded = isOver && isLast && task.state === "succeeded";
  return {
    number: index + 1,
    name: `Attempt #${index + 1}`,
    sessions: [one.session],
    succeeded: succeeded ? true : failed ? false : null,
    running: !isOver,
  };
}

/** All of it in the order of time. What one session said stays in its own order. */
export function merged(sessions: readonly SessionState[], task: TaskState | null): SessionState {
  const blocks = new Map<string, Block>();
  const entries: { at: number; rank: number; id: string }[] = [];
  sessions.forEach((session, index) => {
    for (const [id, block] of session.blocks) blocks.set(`${index}:${id}`, renamed(block, index));
    let last = 0;
    for (const id of session.order) {
      last = Math.max(last, session.blocks.get(id)?.at ?? 0);
      entries.push({ at: last, rank: 1, id: `${index}:${id}` });
    }
  });
  task?.decisions.forEach((decision, index) => {
    const block = decided(`decision:${index}`, decision.at, decision.text);
    blocks.set(block.id, block);
    entries.push({ at: decision.at, rank: 0, id: block.id });
  });
  // Sorting keeps the order of what happened at the same time.
  const order = entries
    .toSorted((one, two) => one.at - two.at || one.rank - two.rank)
    .map((entry) => entry.id);
  const last = sessions.at(-1);
  return {
    view: last?.view ?? null,
    blocks,
    order,
    renamed: new Map(),
    head: sessions.reduce((sum, session) => sum + session.head, 0) + (task?.seq ?? 0),
    context: last?.context ?? null,
  };
}

/** Blocks of several sessions have the same ids now and then. */
function renamed(block: Block, index: number): Block {
  const id = `${index}:${block.id}`;
  if (block.kind !== "tool") return { ...block, id };
  const parent = block.parent === null ? null : `${index}:${block.parent}`;
  return { ...block, id, parent, children: block.children.map((child) => `${index}:${child}`) };
}

const decided = (id: string, at: number, text: string): TextBlock => ({
  id,
  kind: "user",
  seq: 0,
  at,
  title: "TaskDecision",
  text,
  received: text.length,
  receiving: false,
  cut: false,
  left_out: null,
  ended_at: at,
  who: null,
  images: null,
});
