/** A short word for a state, which the server comes to as well (`model/digest.py`). It tells states
 * apart that differ by accident. `crypto.subtle` would need https. */

import type { InboxItem, RunDetail } from "../api/types.gen";
import type { Block, SessionState, TaskState } from "./types";

const encoder = new TextEncoder();

/** Views that an earlier version kept of what still goes on do not have them. */
const UNKEPT: ReadonlySet<string> = new Set(["worked_ms", "working_since"]);

/** Beyond this, no two languages write a number alike. */
const MOST = 2 ** 53;

function thousandths(value: number): number {
  return Math.floor(Math.max(-MOST, Math.min(MOST, value * 1000 + 0.5)));
}

/** What an object leaves out. */
const EMPTY: ReadonlySet<string> = new Set(["null", "false", "0", '""', "[]", "{}"]);

/** Texts of parts of a state: what nothing was told of is the same object as before. */
const texts = new WeakMap<object, string>();

/** What is empty is left out, names are sorted, numbers are whole thousandths. */
export function canonical(value: unknown): string {
  if (typeof value === "number") return String(thousandths(value));
  if (typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== "object") return "null";
  return texts.get(value) ?? ofObject(value as Record<string, unknown>);
}

function ofObject(value: Record<string, unknown>): string {
  let said = "";
  for (const name of Object.keys(value).sort()) {
    if (UNKEPT.has(name)) continue;
    const told = canonical(value[name]);
    if (!EMPTY.has(told)) said += `${said === "" ? "" : ","}${JSON.stringify(name)}:${told}`;
  }
  return `{${said}}`;
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

/** Of a long state, all but the rest that the digest itself takes: piece by piece, so that what the page
 *  does meanwhile waits for none of it. */
export const sessionPieces = ({ blocks }: SessionState): Iterable<void> =>
  each(blocks.values(), blockDigest);
export const runPieces = ({ works }: RunDetail): Iterable<void> =>
  each(works, (work) => texts.set(work, texts.get(work) ?? canonical(work)));

function* each<Part>(parts: Iterable<Part>, does: (part: Part) => unknown): Iterable<void> {
  for (const part of parts) yield void does(part);
}
