/** Where small tiles lie: many tasks at the same time, wrapped into a grid. Pure. */

import { type Tiles, tilesIn } from "./blocks";
import { type Box, LETTER, type Point, type TileFrame } from "./shapes";

const TILE_LEAST = 64;
const TILE_MOST = 172;
const TILE_GAP = 6;
const TILE_EDGE = 12;
const TILE_HEAD = 44;
const GRID_WIDTH = 560;
/** So much has room for what the head says, whatever few tiles are below it. */
const HEAD_LEAST = 300;
const TILE_HEIGHT = 26;

export type Grid = {
  columns: number;
  rows: number;
  tile: number;
  width: number;
  height: number;
  names: readonly string[];
  /** Where the tile at a place begins, from the grid's left upper corner. */
  at: (place: number) => Point;
};

/** How tiles lie: as wide as their longest name, and as many beside each other as there is room. */
export function gridOf(tiles: Tiles): Grid {
  const steps = tilesIn(tiles);
  const tasks = new Set(tiles.steps.map((step) => step.label));
  const names = steps.map((one) => {
    if (one.kind === "stack") return steps.length === 1 ? `all ${one.count}` : `${one.count} more`;
    return tasks.size === 1 ? one.name.replace(`${one.label} · `, "") : one.name;
  });
  const longest = Math.max(...names.map((name) => [...name].length));
  const tile = Math.min(TILE_MOST, Math.max(TILE_LEAST, Math.ceil(longest * LETTER) + 34));
  const columns = Math.max(1, Math.min(steps.length, Math.floor(GRID_WIDTH / (tile + TILE_GAP))));
  const rows = Math.ceil(steps.length / columns);
  return {
    columns,
    tile,
    names,
    rows,
    width: Math.max(HEAD_LEAST, columns * (tile + TILE_GAP) - TILE_GAP + 2 * TILE_EDGE),
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
  const boxes = tilesIn(tiles).map((one, place): Box => {
    const [right, down] = grid.at(place);
    return {
      key: one.key,
      kind: "TaskNode",
      x: left + right,
      y: y + down,
      width: grid.tile,
      height: TILE_HEIGHT,
      of: one,
      tile: tileWords(grid.names[place] ?? "", grid.tile),
    };
  });
  const { width, height } = grid;
  return { frame: { key: tiles.key, x: left, y, width, height, tiles }, boxes };
}
