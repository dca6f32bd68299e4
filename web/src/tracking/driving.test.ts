import { describe, expect, it } from "vitest";
import { NEW_SESSION } from "../state/session";
import type { Block, SessionState, TaskSession, TaskState } from "../state/types";
import { merged, tabsOf } from "./driving";

const said = (id: string, at: number): Block => ({
  id,
  kind: "message",
  seq: at,
  at,
  title: null,
  text: id,
  received: 1,
  receiving: false,
  cut: false,
  left_out: null,
  ended_at: at,
  who: null,
  images: null,
});

const session = (...blocks: Block[]): SessionState => ({
  ...NEW_SESSION,
  blocks: new Map(blocks.map((block) => [block.id, block])),
  order: blocks.map((block) => block.id),
});

const own = (name: string, is_driving: boolean, stopped_at: number | null = 9): TaskSession => ({
  session: name,
  model: "m",
  is_driving,
  started_at: 1,
  stopped_at,
  succeeded: null,
});

const task = (more: Partial<TaskState>): TaskState =>
  ({
    state: "running",
    ended_at: null,
    session: null,
    decisions: [],
    seq: 1,
    ...more,
  }) as unknown as TaskState;

describe("the tabs of a task", () => {
  it("are the driving one, with all that drives, then one for each attempt", () => {
    const tabs = tabsOf(
      task({
        state: "succeeded",
        ended_at: 20,
        task_sessions: [own("a", false), own("b", true), own("c", false), own("d", true)],
      }),
    );
    expect(tabs.map(({ name, sessions, succeeded }) => [name, sessions, succeeded])).toEqual([
      ["Driving", ["b", "d"], null],
      ["Attempt #1", ["a"], false],
      ["Attempt #2", ["c"], true],
    ]);
  });

  it("show a borrowed session as the driving one", () => {
    const [driving, ...attempts] = tabsOf(task({ session: "mine", task_sessions: [] }));
    expect(driving?.sessions).toEqual(["mine"]);
    expect(attempts).toEqual([]);
  });
});

describe("the driving tab", () => {
  it("has decisions and messages in the order of time", () => {
    const decisions = [
      { at: 5, text: "[DECISION] first" },
      { at: 20, text: "[DECISION] second" },
    ];
    const whole = merged(
      [session(said("one", 5), said("two", 10)), session(said("one", 30))],
      task({ decisions }),
    );
    expect(whole.order).toEqual(["decision:0", "0:one", "0:two", "decision:1", "1:one"]);
    expect(whole.blocks.get("decision:0")).toMatchObject({ kind: "user", title: "TaskDecision" });
  });

  it("keeps the order of one session, whatever its clock did", () => {
    const whole = merged([session(said("one", 30), said("two", 10))], task({}));
    expect(whole.order).toEqual(["0:one", "0:two"]);
  });
});
