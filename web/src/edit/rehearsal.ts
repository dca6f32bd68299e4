/** The rehearsal of a draft: started, followed and canceled, and told in words. */

import { signal } from "@preact/signals";
import { get, post, remove, whyNot } from "../api/client";
import { serverTime } from "../api/clock";
import { counted } from "./problems";
import type { Rehearsal, RehearsalStarted, RehearsedTask } from "./wire";

export type Asked = {
  text: string;
  format: "yaml" | "json";
  job: string;
  input: string | null;
  script: string | null;
};

/** All that is shown of it. */
export type Told = Omit<Rehearsal, "digest">;

const FOLLOW_MS = 350;

export class Rehearsals {
  /** The last one, and the text that it played. */
  readonly last = signal<{ told: Told; text: string } | null>(null);
  readonly isStarting = signal(false);
  readonly trouble = signal<string | null>(null);

  get isRunning(): boolean {
    return this.isStarting.value || this.last.value?.told.state === "running";
  }

  async start({ text, format, job, input, script }: Asked): Promise<void> {
    if (this.isRunning) return;
    this.isStarting.value = true;
    this.trouble.value = null;
    const body = {
      text,
      format,
      job,
      ...(input === null ? {} : { input }),
      ...(script === null ? {} : { script }),
    };
    const answer = await post<RehearsalStarted>("/api/v1/rehearsals", body, {}, 30_000);
    this.isStarting.value = false;
    if (answer.kind !== "ok") {
      this.trouble.value = whyNot(answer);
      return;
    }
    const { id } = answer.body;
    this.last.value = {
      told: { id, job, state: "running", started_at: serverTime(), tasks: [] },
      text,
    };
    await this.follow(id);
  }

  private async follow(id: string): Promise<void> {
    for (;;) {
      const answer = await get<Rehearsal>(`/api/v1/rehearsals/${id}`);
      const last = this.last.value;
      if (last === null || last.told.id !== id) return;
      if (answer.kind === "ok") {
        this.last.value = { ...last, told: answer.body };
        if (answer.body.state !== "running") return;
      } else if (answer.kind !== "lost") {
        // The server was started again: what it rehearsed ended with it.
        this.trouble.value = whyNot(answer);
        this.last.value = null;
        return;
      }
      await new Promise((done) => setTimeout(done, FOLLOW_MS));
    }
  }

  async cancel(): Promise<void> {
    const last = this.last.value;
    if (last === null || last.told.state !== "running") return;
    const answer = await remove(`/api/v1/rehearsals/${last.told.id}`);
    if (answer.kind !== "ok") this.trouble.value = whyNot(answer);
  }
}

/** `2 rounds, 3 requests, 1.1 s`. One round is not worth a word. */
export function taskInWords(task: RehearsedTask, isOver: boolean): string {
  const { state, rounds, requests, seconds } = task;
  if (state === "waiting") return isOver ? "did not run" : "waiting";
  return [
    rounds > 1 ? counted(rounds, "round") : "",
    counted(requests, "request"),
    `${seconds.toFixed(1)} s`,
  ]
    .filter((words) => words !== "")
    .join(", ");
}

type Reasons = {
  barred: string | null;
  isAway: boolean;
  errors: number;
  isChecked: boolean;
  job: string | null;
  isRunning: boolean;
};

/** Why it cannot be rehearsed now, beside the button; null where it can. */
export function whyNotRehearse(reasons: Reasons): string | null {
  const { barred, isAway, errors, isChecked, job, isRunning } = reasons;
  if (barred !== null) return barred;
  if (isRunning) return "A rehearsal is running";
  if (isAway) return "The server is not responding";
  if (errors > 0) return `Fix ${counted(errors, "error")} to rehearse`;
  if (job === null) return isChecked ? "Write a job to rehearse" : "Checking…";
  return null;
}
