/** The shapes of a chart: what a node and an arrow are once they have a place, and how large. */

import type { Label, Mark, Stack, Step, Tiles } from "./blocks";

export type Kind = Mark | "TaskNode" | "CondNode";

/** A node's place: its left upper corner and its size. */
export type Box = {
  key: string;
  kind: Kind;
  x: number;
  y: number;
  width: number;
  height: number;
  /** What it stands for; null for a mark. */
  of: Step | Stack | null;
  /** Of a small one in a grid: what is written on it. */
  tile?: string;
};

/** The frame around tiles. */
export type TileFrame = Pick<Box, "key" | "x" | "y" | "width" | "height"> & { tiles: Tiles };

export type Point = readonly [number, number];

export type Line = {
  from: string;
  to: string;
  /** Beginning, turns and end. */
  points: readonly Point[];
  label: Label | null;
  loopBack: boolean;
  /** Where its label stands, in the middle of it. */
  at: Point | null;
  /** The condition that decides whether this way is taken. */
  decidedBy: readonly Step[];
  /** How many tasks on this way are not shown. */
  skips: number;
};

export type Layout = {
  width: number;
  height: number;
  boxes: readonly Box[];
  lines: readonly Line[];
  frames: readonly TileFrame[];
};

export const LETTER = 7.4;
const MOST_LETTERS = 40;
export const BAR = 8;

export const SIZES: Record<Mark, readonly [number, number]> = {
  ParBegin: [120, BAR],
  ParEnd: [120, BAR],
  CondBegin: [108, BAR],
  AltEnd: [108, BAR],
  CondEnd: [52, 36],
  LoopEnd: [20, 20],
};

/** A label of at most so many letters. */
export function shown(label: string): string {
  const letters = [...label];
  return letters.length <= MOST_LETTERS ? label : `${letters.slice(0, MOST_LETTERS - 1).join("")}…`;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Extended_Pictographic}/u;

export function widthOf(label: string, kind: "TaskNode" | "CondNode"): number {
  let letters = 0;
  for (const letter of shown(label)) letters += WIDE.test(letter) ? 1.8 : 1;
  const text = Math.ceil(letters * LETTER) + (kind === "CondNode" ? 68 : 44);
  return Math.max(kind === "CondNode" ? 196 : 172, text);
}

export const NODE_HEIGHT = 44;
