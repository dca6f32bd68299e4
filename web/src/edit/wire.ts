/** What the server says to the editor. */

import type { Mistake } from "../api/types.gen";

export type EntryFile = {
  path: string;
  exists: boolean;
  format: "yaml" | "json" | "python";
  text: string;
  digest?: string | null;
  modified_at?: number | null;
  in_use: boolean;
  writable: boolean;
  why_not?: string | null;
};

export type Repair = {
  title: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  text: string;
};

export type Violation = Mistake & { repairs?: readonly Repair[] };

export type DraftJob = {
  name: string;
  chart: Record<string, unknown>;
  work?: Record<string, unknown> | null;
  requireUserInput: boolean;
};

export type CheckedDraft = {
  valid: boolean;
  violations: readonly Violation[];
  mistakes: number;
  ungranted: readonly string[];
  tasks: readonly string[];
  jobs: readonly DraftJob[];
};

export type Example = {
  name: string;
  title: string;
  description: string;
  text: string;
  script: string;
};

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
