import { describe, expect, it } from "vitest";
import { keysIn, namesBelow, type Place, valueAt } from "./fields";
import { outlineOf, placeAt } from "./outline";

const ENTRY = `# Fixes failing tests.
models:
  driving: gpt-5.2
  deep: "anthropic/claude-sonnet-4.5"
promptVariables: {}
tasks:
  find-cause:
    requireUserInput: true
    prompt:
      - Run the tests. Name the cause.
      - |
        taskId: not a key
  fix-tests:
    model: {category: deep}
    prompt: [Fix the cause., "Change: no test"]
    criteria:
      failureAction: {retryTimes: 2}
jobs:
  fix:
    work:
      kind: Seq
      works:
      - {kind: Ref, taskId: find-cause}
      - kind: Par
        works:
          - kind: Ref
            taskId: fix-tests
`;

const at = (text: string): Place => {
  const offset = text.indexOf("¦");
  return placeAt(text.replace("¦", ""), offset);
};

describe("the outline of an entry", () => {
  const fields = outlineOf(ENTRY);

  it("has every key with its value", () => {
    expect(valueAt(fields, ["models", "deep"])).toBe("anthropic/claude-sonnet-4.5");
    expect(valueAt(fields, ["tasks", "find-cause", "requireUserInput"])).toBe("true");
    expect(valueAt(fields, ["tasks", "fix-tests", "model", "category"])).toBe("deep");
    expect(valueAt(fields, ["tasks", "fix-tests", "criteria", "failureAction", "retryTimes"])).toBe(
      "2",
    );
  });

  it("numbers the items of lists, however they are indented", () => {
    expect(valueAt(fields, ["tasks", "find-cause", "prompt", 0])).toMatch(/^Run the tests/);
    expect(valueAt(fields, ["tasks", "fix-tests", "prompt", 1])).toBe("Change: no test");
    expect(valueAt(fields, ["jobs", "fix", "work", "works", 0, "taskId"])).toBe("find-cause");
    const inner = ["jobs", "fix", "work", "works", 1, "works", 0, "taskId"];
    expect(valueAt(fields, inner)).toBe("fix-tests");
  });

  it("takes no key out of a text below a bar", () => {
    expect(fields.filter(({ path }) => path.at(-1) === "taskId")).toHaveLength(2);
  });

  it("knows the names of tasks and models, and the keys of a map", () => {
    expect(namesBelow(fields, "tasks")).toEqual(["find-cause", "fix-tests"]);
    expect(namesBelow(fields, "models")).toEqual(["driving", "deep"]);
    expect(keysIn(fields, ["jobs", "fix", "work"])).toEqual(["kind", "works"]);
  });

  it("tells where each stands", () => {
    const field = fields.find(({ value }) => value === "find-cause");
    expect(ENTRY.slice(field?.valueFrom, field?.valueTo)).toBe("find-cause");
    expect(ENTRY.slice(field?.from, field?.to)).toBe("taskId");
  });

  it("reads JSON in the same way", () => {
    const json = outlineOf('{\n"tasks": {\n"a": {"prompt": ["x", "y"]}, "b": {}}, "grid": []}');
    expect(namesBelow(json, "tasks")).toEqual(["a", "b"]);
    expect(valueAt(json, ["tasks", "a", "prompt", 1])).toBe("y");
  });

  it("goes on behind a bracket or a quote that was never closed", () => {
    const fields = outlineOf(
      "tasks:\n  a:\n    model: {category: \n  b:\n    prompt: ['x\n  c:\n    d: e\n",
    );
    expect(namesBelow(fields, "tasks")).toEqual(["a", "b", "c"]);
  });

  it("reads any beginning of it without an end", () => {
    for (let end = 0; end <= ENTRY.length; end += 1) {
      expect(placeAt(ENTRY, end).from).toBeLessThanOrEqual(end);
    }
  });
});

describe("the place of the cursor", () => {
  it("is a value behind a key", () => {
    const place = at("tasks:\n  a:\n    permissions: re¦\n  b:\n");
    expect(place).toMatchObject({ kind: "value", path: ["tasks", "a", "permissions"], word: "re" });
  });

  it("is a key or a value where a word stands alone", () => {
    expect(at("tasks:\n  a:\n    per¦")).toMatchObject({
      kind: "open",
      path: ["tasks", "a"],
      word: "per",
    });
  });

  it("belongs to the map that the line is indented for", () => {
    const text = "tasks:\n  a:\n    prompt: [x]\n";
    expect(at(`${text}    ¦`)).toMatchObject({ kind: "open", path: ["tasks", "a"] });
    expect(at(`${text}¦`)).toMatchObject({ kind: "open", path: [] });
    expect(at("tasks:\n  a:\n    criteria:\n      ¦")).toMatchObject({
      kind: "open",
      path: ["tasks", "a", "criteria"],
    });
  });

  it("is within brackets a key before the colon and a value behind it", () => {
    const text = "work:\n  works:\n    - {kind: Ref, task¦";
    expect(at(text)).toMatchObject({ kind: "key", path: ["work", "works", 0], word: "task" });
    const value = at("work:\n  works:\n    - {kind: Ref}\n    - {kind: Ref, taskId: ¦}");
    expect(value).toMatchObject({ kind: "value", path: ["work", "works", 1, "taskId"], word: "" });
    expect(at("a: {b: c, ¦")).toMatchObject({ kind: "key", path: ["a"], isFlow: true });
  });

  it("is inside a quote that is still open", () => {
    const place = at('{"tasks": {"a": {"permissions": "re¦');
    expect(place).toMatchObject({ path: ["tasks", "a", "permissions"], word: "re", quote: '"' });
    expect(at('{"ta¦')).toMatchObject({ kind: "key", path: [], word: "ta", quote: '"' });
  });

  it("is an item of a list", () => {
    expect(at("a:\n  - x\n  - ¦")).toMatchObject({ kind: "open", path: ["a", 1], word: "" });
    expect(at("a: [x, y¦")).toMatchObject({ kind: "value", path: ["a", 1], word: "y" });
  });

  it("offers nothing in a comment", () => {
    expect(at("a: b # per¦").kind).toBe("text");
    expect(at("# per¦").kind).toBe("text");
  });
});
