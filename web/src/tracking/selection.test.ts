import { expect, it } from "vitest";
import { NOTHING, readFragment, tabOf, writeFragment } from "./selection";

it("is written into the fragment and read from it again", () => {
  const selection = {
    node: 4,
    iteration: 2,
    attempt: 0,
    event: { of: "task", seq: 2410 },
    tab: null,
  } as const;
  expect(writeFragment(selection)).toBe("#node=4&iteration=2&attempt=0&event=task-2410");
  expect(readFragment(writeFragment(selection))).toEqual(selection);
  expect(writeFragment(NOTHING)).toBe("");
  expect(readFragment("")).toEqual(NOTHING);
});

it("takes nothing that is no selection", () => {
  expect(readFragment("#node=-1&iteration=x&event=all-1")).toEqual(NOTHING);
  expect(readFragment("#iteration=2&attempt=1")).toEqual(NOTHING);
});

it("shows the report where nothing is selected, and the task where one is", () => {
  expect(tabOf(NOTHING)).toBe("report");
  expect(tabOf({ ...NOTHING, node: 2 })).toBe("task");
  expect(tabOf({ ...NOTHING, node: 2, tab: "report" })).toBe("report");
  expect(writeFragment({ ...NOTHING, node: 2, tab: "report" })).toBe("#node=2&tab=report");
  expect(readFragment("#tab=changes").tab).toBe("changes");
  expect(readFragment("#tab=nonsense").tab).toBeNull();
});
