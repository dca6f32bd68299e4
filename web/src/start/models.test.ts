import { expect, test } from "vitest";
import { billing, byName, times, usualModel } from "./models";

const offer = (id: string, name: string, multiplier: number) => ({ id, name, multiplier });
const CLAUDE = offer("claude", "Claude Sonnet 4.5", 1);
const MINI = offer("gpt-5-mini", "GPT-5 mini", 0);
const TEN = offer("gpt-5.10", "GPT-5.10", 3);
const TWO = offer("gpt-5.2", "GPT-5.2", 1);

test("models are in the order of their names, as people count", () => {
  expect(byName([TEN, TWO, MINI, CLAUDE])).toEqual([CLAUDE, MINI, TWO, TEN]);
});

test("one begins with gpt-5.2, else with the cheapest, else with none", () => {
  expect(usualModel([CLAUDE, MINI, TWO])).toBe(TWO);
  expect(usualModel([CLAUDE, MINI, TEN])).toBe(MINI);
  expect(usualModel([CLAUDE, { ...TEN, multiplier: 1 }])).toBe(CLAUDE);
  expect(usualModel([])).toBeNull();
});

test("a multiplier has no more figures than it needs", () => {
  expect([0, 1, 0.33, 1.5, 0.1 + 0.2].map(times)).toEqual(["0×", "1×", "0.33×", "1.5×", "0.3×"]);
});

test("nobody pays without having been told whom", () => {
  expect(billing("copilot")).toContain("GitHub Copilot");
  expect(billing("rehearsal")).toContain("Nothing is sent");
  expect(billing("ollama")).toContain("your provider ollama");
  expect(billing(undefined)).toBeNull();
});
