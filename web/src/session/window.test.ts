import { describe, expect, it } from "vitest";
import { MOST, spanAround, spanAtEnd, spanFrom } from "./window";

const even = (count: number, height = 40) => Array.from({ length: count }, () => height);

describe("the window of a conversation", () => {
  it("holds a short one as a whole", () => {
    expect(spanAround(even(5), 0, 600)).toEqual({ first: 0, end: 5, above: 0, below: 0 });
    expect(spanAtEnd(even(5), 600)).toEqual({ first: 0, end: 5, above: 0, below: 0 });
  });

  it("adds up to the whole height, wherever it is", () => {
    const heights = Array.from({ length: 5_000 }, (_, n) => 30 + (n % 7) * 11);
    const whole = heights.reduce((sum, height) => sum + height, 0);
    for (const top of [0, 999, 50_000, 200_000, whole]) {
      const { first, end, above, below } = spanAround(heights, top, 700);
      const inside = heights.slice(first, end).reduce((sum, height) => sum + height, 0);
      expect(above + inside + below).toBe(whole);
      expect(end - first).toBeLessThanOrEqual(MOST);
    }
  });

  it("covers the view and something on both sides", () => {
    const { first, end } = spanAround(even(10_000), 100_000, 800);
    expect(first * 40).toBeLessThanOrEqual(100_000 - 1_000);
    expect(end * 40).toBeGreaterThanOrEqual(100_800 + 1_000);
  });

  it("never holds more than it may, however small the blocks are", () => {
    expect(spanAround(even(100_000, 1), 5_000, 800).end).toBeLessThanOrEqual(100_000);
    const { first, end } = spanAtEnd(even(100_000, 1), 800);
    expect([end, end - first]).toEqual([100_000, MOST]);
  });

  it("can begin at a certain block", () => {
    const { first, end } = spanFrom(even(10_000), 7_000, 800);
    expect(first).toBeLessThanOrEqual(7_000);
    expect(end).toBeGreaterThan(7_000);
  });

  it("of nothing is nothing", () => {
    expect(spanAround([], 0, 600)).toEqual({ first: 0, end: 0, above: 0, below: 0 });
    expect(spanAtEnd([], 600)).toEqual({ first: 0, end: 0, above: 0, below: 0 });
  });
});
