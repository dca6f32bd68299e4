/** Where small tiles lie: many tasks at the same time, wrapped into a grid. Pure. */

import type { Tiles } from "./blocks";
import { type Box, LETTER, type Point, type TileFrame } from "./shapes";

const TILE_LEAST = 64;
const TILE_MOST = 172;
const TILE_GAP = 6;
const TILE_EDGE = 12;
const TILE_HEAD = 44;
const GRID_WIDTH = 560;
const TILE_HEIGHT = 26;

export type Grid = {
  columns: number;
  tile: number;
  width: number;
  height: number;
  names: readonly string[];
  /** Where the tile at a place begins, from the grid's left upper corner. */
  at: (place: number) => Point;
};

/** How tiles lie: as wide as their longest name, and as many beside each other as there is room. */
export function gridOf({ steps }: Tiles): Grid {
  const tasks = new Set(steps.map((step) => step.label));
  const names = steps.map((step) =>
    tasks.size === 1 ? step.name.replace(`${step.label} · `, "") : step.name,
  );
  const longest = Math.max(...names.map((name) => [...name].length));
  const tile = Math.min(TILE_MOST, Math.max(TILE_LEAST, Math.ceil(longest * LETTER) + 34));
  const columns = Math.max(1, Math.min(steps.length, Math.floor(GRID_WIDTH / (tile + TILE_GAP))));
  const rows = Math.ceil(steps.length / columns);
  return {
    columns,
    tile,
    names,
    width: columns * (tile + TILE_GAP) - TILE_GAP + 2 * TILE_EDGE,
    height: TILE_HEAD + rows * (TILE_HEIGHT + TILE_GAP) - TILE_GAP + TILE_EDGE,
    at: (place) => [
      TILE_EDGE + (place % columns) * (tile + TILE_GAP),
      TILE_HEAD + Math.floor(place / columns) * (TILE_HEIGHT + TILE_GAP),
    ],
  };
}

/** So many letters of a name fit on a tile. */
const tileWords = (name: string, tile: number): string => {
  const most = Math.floor((tile - 30) / LETTER);
  const letters = [...name];
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`;
};

/** The frame and the tiles in it, around an axis. */
export function tilesAt(tiles: Tiles, x: number, y: number): { frame: TileFrame; boxes: Box[] } {
  const grid = gridOf(tiles);
  const left = x - grid.width / 2;
  const boxes = tiles.steps.map((step, place): Box => {
    const [right, down] = grid.at(place);
    return {
      key: step.key,
      kind: "TaskNode",
      x: left + right,
      y: y + down,
      width: grid.tile,
      height: TILE_HEIGHT,
      of: step,
      tile: tileWords(grid.names[place] ?? "", grid.tile),
    };
  });
  const { width, height } = grid;
  return { frame: { key: tiles.key, x: left, y, width, height, tiles }, boxes };
}
