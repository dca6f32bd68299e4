import { describe, expect, it } from "vitest";
import entrySchema from "../../../src/airboss/entry/entry.schema.json";
import { offersAt } from "./offers";
import { outlineOf, placeAt } from "./outline";
import { aboutAt, opensBlock, type Schema } from "./schema";

const SCHEMA = entrySchema as unknown as Schema;

const HEAD = `models:
  driving: gpt-5.2
  deep: claude
promptVariables:
  board: [Ask the board]
tasks:
  find-cause:
    description: Names the cause.
    requireUserInput: false
    prompt: [x]
  fix-tests:
    requireUserInput: false
    prompt: [y]
`;

function offered(behind: string, models: string[] = []) {
  const whole = HEAD + behind;
  const offset = whole.indexOf("¦");
  const text = whole.replace("¦", "");
  const place = placeAt(text, offset);
  return offersAt(SCHEMA, outlineOf(text), place, models)?.suggestions ?? [];
}

const labels = (behind: string, models: string[] = []) =>
  offered(behind, models).map(({ label }) => label);

describe("what can be written", () => {
  it("is at the beginning every key that the entry does not have yet", () => {
    expect(labels("¦")).toEqual(expect.arrayContaining(["jobs", "grid", "permissions"]));
    expect(labels("¦")).not.toContain("tasks");
  });

  it("names what is required first", () => {
    expect(offered("  third:\n    ¦").slice(0, 2)).toEqual([
      expect.objectContaining({ label: "prompt", detail: "list of texts, required" }),
      expect.objectContaining({ label: "requireUserInput", detail: "true or false, required" }),
    ]);
  });

  it("is one of the values that the schema lists", () => {
    expect(labels("permissions: ¦")).toEqual([
      "ask",
      "caged",
      "approve-all",
      "read-only",
      "deny-all",
    ]);
    expect(labels("  c:\n    requireUserInput: ¦")).toEqual(["true", "false"]);
    expect(labels("jobs:\n  fix:\n    work:\n      kind: ¦")).toEqual([
      "Ref",
      "Seq",
      "Par",
      "Loop",
      "Alt",
    ]);
  });

  it("is told apart by the kind of a work that is written already", () => {
    const loop = labels("jobs:\n  fix:\n    work:\n      kind: Loop\n      ¦");
    expect(loop).toEqual(["body", "preCondition", "postCondition"]);
    expect(labels("jobs:\n  fix:\n    work: {kind: Ref, ¦}")).toEqual(
      expect.arrayContaining(["taskId", "modelOverride"]),
    );
  });

  it("goes down through works in works", () => {
    const inside =
      "jobs:\n  fix:\n    work:\n      kind: Seq\n      works:\n        - kind: Alt\n          ¦";
    expect(labels(inside)).toEqual(["condition", "trueWork", "falseWork"]);
    expect(
      labels("jobs:\n  f:\n    work: {kind: Loop, preCondition: [true, {kind: Ref, taskId: ¦"),
    ).toEqual(["find-cause", "fix-tests"]);
  });

  it("is a task, a model or a job of the draft where one is named", () => {
    const ref = offered("jobs:\n  fix:\n    work: {kind: Ref, taskId: f¦}");
    expect(ref[0]).toMatchObject({ label: "find-cause", about: "Names the cause." });
    expect(labels("  c:\n    model: {category: ¦}")).toEqual(["driving", "deep"]);
    expect(labels("  c:\n    availability:\n      previousTasks: [¦]")).toEqual([
      "find-cause",
      "fix-tests",
      "c",
    ]);
    expect(labels("jobs:\n  fix: {}\ngrid:\n  - jobs: [{name: Fix, jobName: ¦}]")).toEqual(["fix"]);
  });

  it("is a model of the server behind an id", () => {
    expect(labels("  c:\n    model: {id: ¦}", ["gpt-5.2"])).toEqual(["gpt-5.2"]);
  });

  it("is a variable behind a dollar in a prompt", () => {
    const found = labels("  c:\n    prompt:\n      - Ask $¦");
    expect(found).toEqual(expect.arrayContaining(["$board", "$user-input", "$task-model"]));
    expect(labels("  c:\n    prompt: [It costs $us¦]")).toContain("$user-input");
  });

  it("is nothing in a comment or in a text of one's own", () => {
    expect(labels("# perm¦")).toEqual([]);
    expect(labels("  c:\n    description: ¦")).toEqual([]);
  });
});

describe("what the schema says", () => {
  it("tells of a key, also of one below a name of the writer's own", () => {
    expect(aboutAt(SCHEMA, ["tasks", "mine", "criteria"], () => null)?.about).toMatch(/\w/);
    expect(aboutAt(SCHEMA, ["tasks", "mine"], () => null)?.about).toMatch(/\w/);
    expect(aboutAt(SCHEMA, ["nonsense"], () => null)).toBeNull();
  });

  it("knows which values go below their key", () => {
    expect(opensBlock(SCHEMA, ["tasks"], () => null)).toBe(true);
    expect(opensBlock(SCHEMA, ["tasks", "a", "requireUserInput"], () => null)).toBe(false);
  });
});
