/** What the server says to the editor. */

export type {
  CheckedDraft,
  DraftedJob as DraftJob,
  DraftMistake as Violation,
  EntryExample as Example,
  EntryFile,
  MistakeRepair as Repair,
} from "../api/types.gen";

export type RehearsedTask = {
  name: string;
  state: string;
  rounds: number;
  requests: number;
  seconds: number;
};

export type Rehearsal = {
  id: string;
  job: string;
  state: "running" | "succeeded" | "failed" | "canceled";
  started_at: number;
  ended_at?: number | null;
  reason?: string | null;
  tasks: readonly RehearsedTask[];
};
