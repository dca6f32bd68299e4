/** The server's clock, by which all times are that it tells: a browser's may be wrong by days. */

import { signal } from "@preact/signals";

/** How far the server's clock is ahead of this machine's. 0 while they agree as far as can be seen. */
export const ahead = signal(0);

/** An answer's `Date` tells seconds, and a busy server writes it a second late. */
const COARSE_MS = 2_000;

/** What an answer says that was asked for and came at these times of this machine. */
export function learnTime(date: string | null, asked: number, came: number): void {
  const said = Date.parse(date ?? "");
  if (!Number.isNaN(said)) ahead.value = nearest(ahead.peek(), said, asked, came);
}

/** The least change with which the answer's time lies between its question and its coming. Pure. */
export function nearest(before: number, said: number, asked: number, came: number): number {
  return Math.min(Math.max(before, said - came), said + COARSE_MS - asked);
}

/** What time it is there. */
export const serverTime = (): number => Date.now() + ahead.peek();
