import { expect, test } from "vitest";
import { addressOf, filtersIn, isFiltered, NO_FILTERS, pathOf, type Source } from "./filters";

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
