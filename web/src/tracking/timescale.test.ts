import { describe, expect, it } from "vitest";
import { cutInWords, gapsOf, scaleOf } from "./timescale";

const MINUTE = 60_000;
const span = (from: number, to: number) => ({ from: from * MINUTE, to: to * MINUTE });

describe("the timeline's scale", () => {
  it("is even where there is no long gap", () => {
    const { x, cuts } = scaleOf([span(0, 5), span(5, 10)], span(0, 10), 100, 500);
    expect([x(0), x(5 * MINUTE), x(10 * MINUTE)]).toEqual([100, 350, 600]);
    expect(cuts).toEqual([]);
  });

  it("cuts out a long stretch in which nothing happened, and says how long it was", () => {
    const { x, cuts } = scaleOf([span(0, 5), span(65, 70)], span(0, 70), 0, 500);
    expect(cuts).toHaveLength(1);
    expect(cuts[0] && cutInWords(cuts[0])).toBe("60 min cut out");
    expect(x(65 * MINUTE) - x(5 * MINUTE)).toBeCloseTo(34);
    expect(x(70 * MINUTE)).toBeCloseTo(500);
    expect(x(5 * MINUTE)).toBeCloseTo(x(70 * MINUTE) - x(65 * MINUTE));
  });

  it("never goes backward", () => {
    const { x } = scaleOf([span(0, 1), span(40, 41), span(90, 91)], span(0, 91), 10, 400);
    let last = 0;
    for (let minute = 0; minute <= 91; minute += 0.25) {
      expect(x(minute * MINUTE)).toBeGreaterThanOrEqual(last);
      last = x(minute * MINUTE);
    }
  });

  it("has ticks at even times that do not touch each other", () => {
    const { ticks } = scaleOf([span(0, 12)], span(0, 12.5), 0, 450);
    expect(ticks.map((tick) => tick.after / MINUTE)).toEqual([0, 2.5, 5, 7.5, 10, 12.5]);
    const { ticks: cut } = scaleOf([span(0, 5), span(600, 605)], span(0, 605), 0, 450);
    cut.forEach((tick, index) => {
      const before = cut[index - 1];
      if (before) expect(tick.x - before.x).toBeGreaterThanOrEqual(60);
    });
  });

  it("knows the gaps, also of what overlaps", () => {
    expect(gapsOf([span(2, 4), span(3, 6), span(8, 9)], span(0, 10))).toEqual([
      span(0, 2),
      span(6, 8),
      span(9, 10),
    ]);
    expect(gapsOf([], span(0, 1))).toEqual([span(0, 1)]);
  });
});
