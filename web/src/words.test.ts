import { expect, test } from "vitest";
import {
  ago,
  began,
  byTask,
  clock,
  cost,
  duration,
  fully,
  instant,
  leftOut,
  span,
  stateOf,
  tokens,
  visible,
  visibleLines,
  visibleProse,
  visibleWhole,
  when,
} from "./words";

const at = (day: number, hour: number, minute: number, year = 2026) =>
  new Date(year, 10, day, hour, minute, 7).getTime();

test("times are local and have 24 hours", () => {
  expect(clock(at(15, 14, 2))).toBe("14:02");
  expect(clock(at(15, 0, 5))).toBe("00:05");
  expect(fully(at(5, 14, 2))).toBe("2026-11-05 14:02:07");
});

test("what was left out of a text is counted in words", () => {
  expect(leftOut(1)).toBe("1 character left out");
  expect(leftOut(12_345_678)).toBe("12,345,678 characters left out");
});

test("what was today has a time, what was before has a day", () => {
  const now = at(15, 14, 0);
  expect(when(at(15, 9, 30), now)).toBe("09:30");
  expect(when(at(14, 9, 30), now)).toBe("14 Nov");
  expect(when(at(14, 9, 30, 2025), now)).toBe("14 Nov 2025");
  expect(began(at(15, 9, 30), now)).toBe("09:30");
  expect(began(at(14, 9, 30), now)).toBe("14 Nov, 09:30");
});

test("what cannot be seen is made visible", () => {
  expect(visible("plain, ünïcode, 日本, 🙂")).toBe("plain, ünïcode, 日本, 🙂");
  expect(visible("evil\u202egpj.exe")).toBe("evil⟨U+202E⟩gpj.exe");
  expect(visible("zero\u200bwidth \u0007bell")).toBe("zero⟨U+200B⟩width ⟨U+0007⟩bell");
  expect(visible(" two\nlines\t")).toBe("two lines");
  expect(visible("tag\u{e0041}ged, soft\u00adly")).toBe("tag⟨U+E0041⟩ged, soft⟨U+00AD⟩ly");
});

test("in prose a picture made of several is one picture, and a joiner elsewhere is seen", () => {
  const pictures = "👩\u200d💻 ❤\ufe0f\u200d🔥 👩🏽\u200d🚀 1\ufe0f\u20e3";
  expect(visibleProse(pictures)).toBe(pictures);
  expect(visibleProse("one\r\ntwo\u00a0words")).toBe("one\ntwo\u00a0words");
  expect(visibleProse("ad\u200dmin, a\ufe0fb")).toBe("ad⟨U+200D⟩min, a⟨U+FE0F⟩b");
  expect(visible("✔\ufe0f")).toBe("✔⟨U+FE0F⟩");
});

test("everything that Unicode calls invisible is shown, and no letter is marked", () => {
  const invisible =
    /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Noncharacter_Code_Point}]/u;
  const blank = /[\u2800\u2d7f\ufffc\u{1107f}\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const hidden = character !== " " && (invisible.test(character) || blank.test(character));
    const marked = visibleWhole(character) !== character;
    const assigned = !/\p{Cn}/u.test(character);
    if (hidden !== marked && (hidden || assigned)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
}, 60_000); // a million characters take a busy machine its time

test("a path shows each of its letters", () => {
  expect(visibleWhole("./test\u200d.sh\n ")).toBe("./test⟨U+200D⟩.sh⟨U+000A⟩ ");
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

test("a duration has minutes and seconds, and hours only where it needs them", () => {
  expect([0, 7_400, 725_000, 3_609_000].map(duration)).toEqual([
    "0:00",
    "0:07",
    "12:05",
    "1:00:09",
  ]);
  expect(duration(-5)).toBe("0:00");
});

test("a span is told in its largest unit", () => {
  const minute = 60_000;
  const day = 1_440 * minute;
  expect([40_000, 3.5 * minute, 125 * minute, day, 5.9 * day].map(span)).toEqual([
    "40 s",
    "3 min",
    "2 h",
    "1 day",
    "5 days",
  ]);
  expect(ago(1_000, 2_000)).toBe("just now");
  expect(ago(0, 2 * minute)).toBe("2 min ago");
});

test("counts are short, and in the unit that is billed", () => {
  expect([812, 1_000, 9_949, 12_400, 999_499, 999_500, 1_240_000].map(tokens)).toEqual([
    "812",
    "1k",
    "9.9k",
    "12k",
    "999k",
    "1M",
    "1.2M",
  ]);
  expect([0, 1, 0.33, 7].map(cost)).toEqual([
    "0 premium requests",
    "1 premium request",
    "0.33 premium requests",
    "7 premium requests",
  ]);
});

test("a text of many lines keeps its lines and shows what hides in them", () => {
  expect(visibleLines("one\n\ttwo\n")).toBe("one\n\ttwo\n");
  expect(visibleLines("over\rwritten \u001b[31mred")).toBe("over⟨U+000D⟩written ⟨U+001B⟩[31mred");
  expect(visibleLines("if (\u2066admin\u2069)")).toBe("if (⟨U+2066⟩admin⟨U+2069⟩)");
});

test("a run that waits for a person says so to the person", () => {
  expect(stateOf("waiting-for-person", false)).toEqual({ look: "you", word: "Waiting for you" });
});

test("a moment is told in milliseconds or seconds, never as nothing", () => {
  expect([instant(0), instant(412), instant(1_240)]).toEqual(["0 ms", "412 ms", "1.2 s"]);
});

test("a task is no name for people: its id stays away", () => {
  const task = `task tsk_${"0".repeat(26)}`;
  expect(byTask(`Closed by ${task}.`)).toBe("Closed by its task.");
  expect(byTask("task tsk_short")).toBe("task tsk_short");
});
