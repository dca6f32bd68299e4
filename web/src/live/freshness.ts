/** How fresh a page is, from when it last heard of the server. Pure. */

export type Freshness =
  | { kind: "connecting" }
  | { kind: "unreachable"; again: number | null }
  | { kind: "live" }
  | { kind: "catching" }
  | { kind: "behind"; seconds: number }
  | { kind: "reconnecting"; seconds: number }
  | { kind: "stale"; since: number; again: number | null }
  | { kind: "complete" }
  | { kind: "preview" };

export type Line = {
  /** Whether an answer is coming in right now, and whether it has told all that there was. */
  open: boolean;
  caughtUp: boolean;
  /** When the server was last heard of, by this machine's clock. */
  heardAt: number | null;
  /** Of a server that is cut off from the database: when it was last heard there. */
  behindAt?: number | null;
  /** Since when the line is broken; when it is tried again. */
  brokenAt: number | null;
  againAt: number | null;
};

/** The server says something every five seconds: this is two and a half times as long. */
export const SILENCE_MS = 12_500;
/** A shared database answers each second: what is older than this is told. */
export const BEHIND_MS = 3_000;
const STALE_AFTER_MS = 30_000;

/** Up to when what goes on has surely gone on, as far as the page can know: what counts does not
 *  count further once the page is stale, and never goes back. */
export const knownUntil = ({ heardAt }: Line, now: number): number =>
  heardAt === null ? now : Math.min(now, heardAt + STALE_AFTER_MS);

export function freshness(line: Line, now: number): Freshness {
  const again = line.againAt === null ? null : Math.max(0, Math.ceil((line.againAt - now) / 1000));
  if (line.heardAt === null) {
    return line.brokenAt === null ? { kind: "connecting" } : { kind: "unreachable", again };
  }
  if (line.behindAt != null) {
    return { kind: "behind", seconds: Math.max(1, Math.round((now - line.behindAt) / 1000)) };
  }
  const silence = now - line.heardAt;
  if (silence > STALE_AFTER_MS) return { kind: "stale", since: line.heardAt, again };
  if (line.open && silence <= SILENCE_MS) return { kind: line.caughtUp ? "live" : "catching" };
  return { kind: "reconnecting", seconds: Math.max(1, Math.round(silence / 1000)) };
}
