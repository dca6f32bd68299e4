/** What the pages read of the server's answers. */

export type Policy = "ask" | "approve-all" | "read-only" | "deny-all";

export type Copilot = {
  /** Null until the runtime was asked. */
  signedIn: boolean | null;
  login: string | null;
  how: string | null;
  detail: string | null;
};

/** The entry in use: what people can run here. */
export type Entry = {
  source: string;
  path: string | null;
  /** What somebody should know about it, in words. */
  problem: string | null;
};

export type Status = {
  version: string | null;
  rehearsal: boolean;
  policy: string | null;
  copilot: Copilot;
  /** Null before one was installed. */
  entry: Entry | null;
};

export type Session = {
  id: string;
  state: string;
  title: string | null;
  model: string | null;
  cwd: string | null;
  /** Milliseconds; null where the server did not say. */
  updatedAt: number | null;
};

export type SessionPage = { sessions: Session[]; more: boolean };
