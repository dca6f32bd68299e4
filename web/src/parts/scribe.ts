/** Has markdown parsed and code coloured by a worker, and gives up on what takes too long. */

import type { ProseRequest, Written } from "./scribe.worker";

type Job = ProseRequest & { done: (html: string | null) => void };

const PATIENCE_MS = 3_000;

let worker: Worker | null = null;
let alarm: ReturnType<typeof setTimeout> | undefined;
let last = 0;
const jobs: Job[] = [];

const KEPT = 200;
const LONGEST_KEPT = 50_000;
const kept = new Map<string, string>();

/** What a text became before, where that is still known. */
export const wasWritten = (text: string, top: number): string | null =>
  kept.get(`${top} ${text}`) ?? null;

function keep({ text, top, language }: Job, html: string): void {
  if (text.length + html.length > LONGEST_KEPT) return;
  kept.set(`${language ?? top} ${text}`, html);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) return;
    kept.delete(oldest);
  }
}

/** HTML that `door` may take; null where the text has to stand as it is. */
export const writtenDown = (text: string, top: number): Promise<string | null> =>
  handOver({ text, top });

/** The highlighter's HTML, to be taken apart; null where the code has no colours. */
export const colouredIn = (code: string, language: string): Promise<string | null> => {
  const known = kept.get(`${language} ${code}`);
  return known === undefined ? handOver({ text: code, top: 0, language }) : Promise.resolve(known);
};

function handOver(job: Omit<Job, "id" | "done">): Promise<string | null> {
  return new Promise((resolve) => {
    last += 1;
    jobs.push({ ...job, id: last, done: resolve });
    if (jobs.length === 1) begin();
  });
}

/** One at a time, so that the one that takes too long is known. */
function begin(): void {
  const job = jobs[0];
  if (job === undefined) return;
  worker ??= hired();
  alarm = setTimeout(() => fire(job), PATIENCE_MS);
  const { done: _done, ...request } = job;
  worker.postMessage(request satisfies ProseRequest);
}

function hired(): Worker {
  const made = new Worker(new URL("./scribe.worker.ts", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data }: MessageEvent<Written>) => end(data.id, data.html));
  made.addEventListener("error", () => jobs[0] !== undefined && fire(jobs[0]));
  return made;
}

function fire(job: Job): void {
  worker?.terminate();
  worker = null;
  end(job.id, null);
}

function end(id: number, html: string | null): void {
  if (jobs[0]?.id !== id) return;
  clearTimeout(alarm);
  const job = jobs.shift();
  if (job !== undefined && html !== null) keep(job, html);
  job?.done(html);
  begin();
}
