/** The grid of the entry as rows of cells, and the jobs that it leaves out. Pure. */

import type { JobItem, JobList } from "../api/types.gen";

/** A job under the name that its button has. */
export type Cell = { name: string; job: JobItem };
export type GridRow = { keyword: string; cells: readonly (Cell | null)[] };
export type Grid = { rows: readonly GridRow[]; columns: number };

const OTHERS = "Other";
/** Those without a place wrap as people would write them. */
const OTHERS_IN_A_ROW = 3;

export function gridOf(list: JobList): Grid {
  const jobs = new Map(list.items.map((job) => [job.name, job]));
  const placed = new Set<string>();
  const rows: GridRow[] = list.grid.map((row) => {
    const cells = Array.isArray(row.jobs) ? row.jobs : [];
    return {
      keyword: String(row.keyword ?? ""),
      cells: cells.map((cell: { name?: unknown; jobName?: unknown } | null) => {
        const job = jobs.get(String(cell?.jobName));
        if (job === undefined) return null;
        placed.add(job.name);
        return { name: String(cell?.name ?? job.name), job };
      }),
    };
  });
  const others = list.items.filter(({ name }) => !placed.has(name));
  const columns = Math.max(OTHERS_IN_A_ROW, ...rows.map(({ cells }) => cells.length));
  for (let at = 0; at < others.length; at += columns) {
    const cells = others.slice(at, at + columns).map((job) => ({ name: job.name, job }));
    rows.push({ keyword: at === 0 ? OTHERS : "", cells });
  }
  return { rows, columns };
}

/** The cell of a job; where it has several, the first. */
export function cellOf(grid: Grid, job: string | null): Cell | null {
  if (job === null) return null;
  for (const { cells } of grid.rows) {
    const found = cells.find((cell) => cell?.job.name === job);
    if (found != null) return found;
  }
  return null;
}
