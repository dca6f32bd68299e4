/** The run's report, asked for again when the run has gone on, and only while it is looked at. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { FileChange, Report, RunChanges } from "../api/types.gen";

const MOMENT_MS = 1_000;

export type Reported = { report: Report | null; trouble: string | null };

export function useReport(run: string, seq: number, isOver: boolean, isShown: boolean): Reported {
  const report = useSignal<Report | null>(null);
  const trouble = useSignal<string | null>(null);
  useEffect(() => {
    if (!isShown || report.value?.seq === seq) return undefined;
    let left = false;
    const ask = async () => {
      const answer = await get<Report>(`/api/v1/runs/${encodeURIComponent(run)}/report`);
      if (left) return;
      if (answer.kind === "ok") report.value = answer.body;
      trouble.value = answer.kind === "ok" ? null : whyNot(answer);
    };
    // While it goes on, much happens at once.
    const timer = setTimeout(() => void ask(), report.value === null || isOver ? 0 : MOMENT_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [run, seq, isOver, isShown]);
  return { report: report.value, trouble: trouble.value };
}

/** The diffs of a run's files, page by page as far as somebody looks. */
export class Diffs {
  private readonly pages = new Map<number, Promise<readonly FileChange[]>>();

  constructor(
    readonly run: string,
    readonly seq: number,
  ) {}

  /** Of the file at this place of the report. */
  async at(place: number): Promise<FileChange | null> {
    const first = Math.floor(place / PAGE) * PAGE;
    const page = this.pages.get(first) ?? this.load(first);
    this.pages.set(first, page);
    return (await page)[place - first] ?? null;
  }

  private async load(first: number): Promise<readonly FileChange[]> {
    const path = `/api/v1/runs/${encodeURIComponent(this.run)}/changes`;
    const answer = await get<RunChanges>(`${path}?first=${first}&limit=${PAGE}`);
    if (answer.kind === "ok") return answer.body.files;
    this.pages.delete(first); // somebody may try again
    return [];
  }
}

const PAGE = 20;
