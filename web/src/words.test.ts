import { expect, test } from "vitest";
import { clock, fully, stateOf, visible, when } from "./words";

const at = (day: number, hour: number, minute: number, year = 2026) =>
  new Date(year, 10, day, hour, minute, 7).getTime();

test("times are local and have 24 hours", () => {
  expect(clock(at(15, 14, 2))).toBe("14:02");
  expect(clock(at(15, 0, 5))).toBe("00:05");
  expect(fully(at(5, 14, 2))).toBe("2026-11-05 14:02:07");
});

test("what was today has a time, what was before has a day", () => {
  const now = at(15, 14, 0);
  expect(when(at(15, 9, 30), now)).toBe("09:30");
  expect(when(at(14, 9, 30), now)).toBe("14 Nov");
  expect(when(at(14, 9, 30, 2025), now)).toBe("14 Nov 2025");
});

test("what cannot be seen is made visible", () => {
  expect(visible("plain, ünïcode, 日本, 🙂")).toBe("plain, ünïcode, 日本, 🙂");
  expect(visible("evil\u202egpj.exe")).toBe("evil⟨U+202E⟩gpj.exe");
  expect(visible("zero\u200bwidth \u0007bell")).toBe("zero⟨U+200B⟩width ⟨U+0007⟩bell");
  expect(visible(" two\nlines\t")).toBe("two lines");
});

test("a state keeps the server's word", () => {
  expect(stateOf("running", false)).toEqual({ look: "running", word: "Running" });
  expect(stateOf("waiting_for_you", false)).toEqual({ look: "you", word: "Waiting for you" });
  expect(stateOf("interrupted", false)).toEqual({ look: "canceled", word: "Interrupted" });
  expect(stateOf("closed", false)).toEqual({ look: "ok", word: "Closed" });
});

test("a state that only a newer server knows is shown as it says it", () => {
  expect(stateOf("hibernating", false)).toEqual({ look: "waiting", word: "Hibernating" });
});

test("on a stale page nothing is said to run", () => {
  expect(stateOf("running", true)).toEqual({ look: "stale", word: "Stale, was Running" });
  expect(stateOf("closed", true)).toEqual({ look: "ok", word: "Closed" });
});
