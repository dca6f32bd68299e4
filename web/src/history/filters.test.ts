import { expect, test } from "vitest";
import {
  addressOf,
  allJobs,
  filtersIn,
  isFiltered,
  NO_FILTERS,
  pathOf,
  type Source,
  searchPath,
} from "./filters";

test("filters are in the address, and what nobody knows is left out", () => {
  const filters = { ...NO_FILTERS, text: "a & b", state: "failed", time: "week" } as const;
  expect(addressOf(filters)).toBe("/history.html?text=a+%26+b&state=failed&time=week");
  expect(filtersIn("?text=a+%26+b&state=failed&time=week")).toEqual(filters);
  expect(filtersIn("?state=hibernating&kind=toString")).toEqual(NO_FILTERS);
  expect(addressOf(NO_FILTERS)).toBe("/history.html");
  expect([isFiltered(filters), isFiltered(NO_FILTERS)]).toEqual([true, false]);
});

test("the server is asked for what was chosen", () => {
  const now = 1_000_000_000;
  expect(pathOf("runs", { ...NO_FILTERS, state: "going", job: "ship" }, now, 50)).toBe(
    "/api/v1/runs?limit=50&state=waiting&state=running&state=waiting-for-person&job=ship",
  );
  expect(pathOf("task-runs", { ...NO_FILTERS, state: "failed", model: "m" }, now, 50)).toBe(
    "/api/v1/task-runs?limit=50&alone=true&state=failed&state=crashed&model=m",
  );
  expect(pathOf("sessions", { ...NO_FILTERS, text: " x ", time: "day" }, now, 50)).toBe(
    "/api/v1/sessions?limit=50&of=person&text=x&since=913600000",
  );
});

test("what waits for you is asked of runs, tasks and sessions", () => {
  const asked = (source: Source) => pathOf(source, { ...NO_FILTERS, state: "asking" }, 0, 50);
  expect((["runs", "task-runs", "sessions"] as const).map(asked)).toEqual([
    "/api/v1/runs?limit=50&state=waiting-for-person",
    "/api/v1/task-runs?limit=50&alone=true&for_person=true",
    "/api/v1/sessions?limit=50&of=person&for_person=true",
  ]);
});

test("what cannot match is not asked for", () => {
  expect(pathOf("sessions", { ...NO_FILTERS, kind: "runs" }, 0, 50)).toBeNull();
  expect(pathOf("sessions", { ...NO_FILTERS, state: "failed" }, 0, 50)).toBeNull();
  expect(pathOf("sessions", { ...NO_FILTERS, job: "ship" }, 0, 50)).toBeNull();
  expect(pathOf("runs", { ...NO_FILTERS, model: "gpt-5.2" }, 0, 50)).toBeNull();
});

test("a tag is one of runs", () => {
  const tagged = { ...NO_FILTERS, tag: "nightly" };
  expect(pathOf("runs", tagged, 0, 50)).toBe("/api/v1/runs?limit=50&tag=nightly");
  expect([pathOf("task-runs", tagged, 0, 50), pathOf("sessions", tagged, 0, 50)]).toEqual([
    null,
    null,
  ]);
  expect(filtersIn("?tag=nightly")).toEqual(tagged);
});

test("what was said is looked for with the same filters", () => {
  const now = 1_000_000_000;
  const text = { ...NO_FILTERS, text: " x " };
  expect(searchPath(NO_FILTERS, now, 50)).toBeNull();
  expect(searchPath({ ...text, text: "[ *" }, now, 50)).toBeNull();
  expect(searchPath(text, now, 50)).toBe("/api/v1/search?limit=50&text=x");
  expect(searchPath({ ...text, kind: "sessions", state: "failed" }, now, 50)).toBeNull();
  expect(searchPath({ ...text, state: "failed", job: "ship" }, now, 50)).toBe(
    "/api/v1/search?limit=50&text=x&state=failed&state=crashed&job=ship",
  );
  expect(searchPath({ ...text, kind: "runs", state: "asking", time: "day" }, now, 50)).toBe(
    "/api/v1/search?limit=50&text=x&of=run&for_person=true&since=913600000",
  );
});

test("jobs that only kept runs have can be chosen too", () => {
  expect(allJobs(["b", "a"], ["a", "gone"])).toEqual(["b", "a", "gone"]);
});
