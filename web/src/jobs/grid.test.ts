import { expect, test } from "vitest";
import type { JobItem } from "../api/types.gen";
import { cellOf, gridOf } from "./grid";

const job = (name: string): JobItem => ({
  name,
  requireUserInput: false,
  work: { kind: "Ref", taskId: name },
  chart: {},
  stats: { running: 0, waiting_for_person: 0 },
});
const [SHIP, FIX, ODD] = [job("ship"), job("fix"), job("odd")];
const GRID = [
  { keyword: "Build", jobs: [{ name: "Ship a change", jobName: "ship" }, null] },
  { keyword: "Mend", jobs: [null, { name: "Fix", jobName: "fix" }] },
];

test("a row has its keyword, its jobs under their names, and its gaps", () => {
  const { rows } = gridOf({ items: [SHIP, FIX], grid: GRID });
  expect(rows).toEqual([
    { keyword: "Build", cells: [{ name: "Ship a change", job: SHIP }, null] },
    { keyword: "Mend", cells: [null, { name: "Fix", job: FIX }] },
  ]);
});

test("jobs that no row names come below, so that none is out of reach", () => {
  const { rows } = gridOf({ items: [SHIP, FIX, ODD], grid: GRID });
  expect(rows.at(-1)).toEqual({ keyword: "Other", cells: [{ name: "odd", job: ODD }] });
  const many = gridOf({ items: ["a", "b", "c", "d"].map(job), grid: [] });
  expect(many.rows.map(({ keyword, cells }) => [keyword, cells.length])).toEqual([
    ["Other", 3],
    ["", 1],
  ]);
});

test("all rows have the columns of the longest", () => {
  const long = { keyword: "L", jobs: [null, null, null, null, { name: "Fix", jobName: "fix" }] };
  expect(gridOf({ items: [FIX], grid: [long] }).columns).toBe(5);
  expect(gridOf({ items: [], grid: [] })).toEqual({ rows: [], columns: 3 });
});

test("a job is found under the name that its button has", () => {
  const grid = gridOf({ items: [SHIP, ODD], grid: GRID });
  expect(cellOf(grid, "ship")?.name).toBe("Ship a change");
  expect(cellOf(grid, "odd")?.name).toBe("odd");
  expect(cellOf(grid, "gone")).toBeNull();
  expect(cellOf(grid, null)).toBeNull();
});
