/** A short word for a state, which the server comes to as well (`model/digest.py`). It tells states
 * apart that differ by accident. `crypto.subtle` would need https. */

import type { InboxItem, RunDetail } from "../api/types.gen";
import type { Block, SessionState, TaskState } from "./types";

type Plain = null | boolean | number | string | readonly Plain[] | { [name: string]: Plain };

const encoder = new TextEncoder();

function isEmpty(value: Plain): boolean {
  if (value === null || typeof value !== "object") return !value;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** Views that an earlier version kept of what still goes on do not have them. */
const UNKEPT: ReadonlySet<string> = new Set(["worked_ms", "working_since"]);

/** Beyond this, no two languages write a number alike. */
const MOST = 2 ** 53;

function thousandths(value: number): number {
  return Math.floor(Math.max(-MOST, Math.min(MOST, value * 1000 + 0.5)));
}

function plain(value: unknown): Plain {
  if (typeof value === "number") return thousandths(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return null;
  const sorted: { [name: string]: Plain } = {};
  for (const [name, part] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (UNKEPT.has(name)) continue;
    const told = plain(part);
    if (!isEmpty(told)) sorted[name] = told;
  }
  return sorted;
}

/** What is empty is left out, names are sorted, numbers are whole thousandths. */
export function canonical(state: unknown): string {
  return JSON.stringify(plain(state));
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
}

const ADLER = 65_521;
/** So many bytes can be summed before the sums leave what a number holds exactly. */
const STRETCH = 1 << 20;

function adler32(bytes: Uint8Array): number {
  let [low, high] = [1, 0];
  for (let begin = 0; begin < bytes.length; begin += STRETCH) {
    for (const byte of bytes.subarray(begin, begin + STRETCH)) {
      low += byte;
      high += low;
    }
    low %= ADLER;
    high %= ADLER;
  }
  return high * 65_536 + low;
}

const hex = (sum: number): string => sum.toString(16).padStart(8, "0");

/** 16 hexadecimal digits. */
export function digest(state: unknown): string {
  const bytes = encoder.encode(canonical(state));
  return hex(crc32(bytes)) + hex(adler32(bytes));
}

/** A block that nothing was told of is the same object as before, and has the same digest. */
const known = new WeakMap<Block, string>();

/** Of a text without an end, no two readers have the same at the same time. */
function whole(block: Block): Partial<Block> {
  if (block.kind === "ask" || block.kind === "note") return block;
  const { received: _received, ...rest } = block;
  if (block.ended_at !== null) return rest;
  return { ...rest, ...(block.kind === "tool" ? { output: "" } : { text: "" }) };
}

function blockDigest(block: Block): string {
  const found = known.get(block) ?? digest(whole(block));
  known.set(block, found);
  return found;
}

export function sessionDigest({ view, context, order, blocks }: SessionState): string {
  const digests = [...blocks].map(([id, block]) => [id, blockDigest(block)]);
  return digest({ view, context, order, blocks: digests });
}

export const runDigest = (run: RunDetail): string => digest(run);
export const taskDigest = (task: TaskState): string => digest(task);
export const inboxDigest = (items: readonly InboxItem[]): string => digest({ items });
