/** The stories that the server's own tests read too: both come to the same state and digest. */

import { expect, test } from "vitest";
import type { InboxItem, RunDetail } from "../api/types.gen";
import { inboxDigest, runDigest, sessionDigest, taskDigest } from "./digest";
import { reduceInbox } from "./inbox";
import { reduceRun } from "./run";
import { NEW_SESSION, reduceSession } from "./session";
import { reduceTask } from "./task";
import type { Recorded, SessionState, TaskState } from "./types";

type Story = {
  kind: "session" | "run" | "task" | "inbox";
  stream: string;
  events: Recorded[];
  expected: unknown;
  digest: string;
};

const files = import.meta.glob<Story>("../../../tests/stories/*.json", {
  eager: true,
  import: "default",
});
const stories = Object.entries(files).map(
  ([path, story]) => [path.replace(/.*\/|\.json$/g, ""), story] as const,
);

/** Without what is null: the wire leaves it out. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== "object") return value;
  const named = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  return Object.fromEntries(named.map(([name, part]) => [name, bare(part)]));
}

type Folded = { plain: unknown; digest: string };

function ofSession(state: SessionState): Folded {
  const { view, context, order, blocks } = state;
  const plain = bare({ view, context, order, blocks: [...blocks.values()] });
  return { plain, digest: sessionDigest(state) };
}

function folded({ kind, stream }: Story, batches: readonly (readonly Recorded[])[]): Folded {
  switch (kind) {
    case "session": {
      let state = NEW_SESSION;
      for (const batch of batches) state = reduceSession(state, batch, stream);
      return ofSession(state);
    }
    case "run": {
      let state: RunDetail | null = null;
      for (const batch of batches) state = reduceRun(state, batch, stream);
      return { plain: bare(state), digest: state ? runDigest(state) : "" };
    }
    case "task": {
      let state: TaskState | null = null;
      for (const batch of batches) state = reduceTask(state, batch, stream);
      return { plain: bare(state), digest: state ? taskDigest(state) : "" };
    }
    case "inbox": {
      let items: readonly InboxItem[] = [];
      for (const batch of batches) items = reduceInbox(items, batch);
      return { plain: bare({ items }), digest: inboxDigest(items) };
    }
  }
}

test("there are stories", () => {
  expect(stories.length).toBeGreaterThan(8);
});

test.each(stories)("%s folds into what it says", (_name, story) => {
  const { plain, digest } = folded(story, [story.events]);
  expect(plain).toEqual(story.expected);
  expect(digest).toBe(story.digest);
});

test.each(stories)("%s folds into the same event by event", (_name, story) => {
  const { plain, digest } = folded(
    story,
    story.events.map((event) => [event]),
  );
  expect(plain).toEqual(story.expected);
  expect(digest).toBe(story.digest);
});

test.each(stories)("%s is as well known without the deltas of what has ended", (_name, story) => {
  const ended = new Set(
    story.events.flatMap(({ event }) =>
      event.kind.endsWith(".ended") && "block" in event ? [event.block] : [],
    ),
  );
  const rest = story.events.filter(
    ({ event }) => !(event.kind.endsWith(".delta") && "block" in event && ended.has(event.block)),
  );
  expect(folded(story, [rest]).digest).toBe(story.digest);
});

test.each(stories.filter(([, { kind }]) => kind === "session"))(
  "a tail of %s of any length is tolerated",
  (_name, story) => {
    for (let begin = 0; begin < story.events.length; begin += 1) {
      const { blocks, order } = reduceSession(NEW_SESSION, story.events.slice(begin), story.stream);
      expect(order.every((id) => blocks.has(id))).toBe(true);
    }
  },
);
