import { expect, test } from "vitest";
import { fitting, opening, stepOf } from "./zoom";

const room = { width: 600, height: 400 };

test("zoom goes in tenths, from 0.2 to 3", () => {
  expect([stepOf(1, 1), stepOf(0.3, -1), stepOf(0.2, -1), stepOf(3, 1)]).toEqual([
    1.1, 0.2, 0.2, 3,
  ]);
});

test("all of a chart fits, and it is never made larger than it is", () => {
  expect(fitting({ width: 300, height: 200 }, room)).toBe(1);
  expect(fitting({ width: 1200, height: 200 }, room)).toBe(0.5);
});

test("a chart opens as a whole where that can be read, else as wide as the room", () => {
  expect(opening({ width: 600, height: 440 }, room)).toBe(0.9);
  expect(opening({ width: 600, height: 4000 }, room)).toBe(0.8);
  expect(opening({ width: 6000, height: 300 }, room)).toBe(0.5);
});
