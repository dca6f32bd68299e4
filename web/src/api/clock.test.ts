import { expect, test } from "vitest";
import { nearest } from "./clock";

const DAY = 86_400_000;

test("clocks that agree as far as an answer can tell are taken to agree", () => {
  expect(nearest(0, 10_000, 10_400, 10_500)).toBe(0);
  expect(nearest(0, 10_000, 11_900, 11_950)).toBe(0);
  expect(nearest(0, 10_000, 9_000, 17_000)).toBe(0);
});

/** After answers that were asked for from a time on, one every 300 ms. */
function learned(from: number, off: number, before = 0): number {
  let known = before;
  for (let asked = from; asked < from + 6_000; asked += 300) {
    const said = Math.floor((asked + 50 + off) / 1_000) * 1_000;
    known = nearest(known, said, asked, asked + 100);
  }
  return known;
}

test("a clock that is a day late or early is known to two seconds, and does not swing", () => {
  for (const off of [DAY, -DAY]) {
    const first = learned(10_100, off);
    expect(Math.abs(first - off)).toBeLessThanOrEqual(2_000);
    expect(learned(70_300, off, first)).toBe(first);
  }
});

test("a clock that is put right is believed again", () => {
  expect(Math.abs(nearest(DAY, 10_000, 10_100, 10_200))).toBeLessThanOrEqual(2_000);
});
