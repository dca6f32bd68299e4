import { expect, test } from "vitest";
import { clamped, stepped } from "./size";

const limits = { min: 120, max: 700 };

test("a size stays within its limits, also where the window is smaller than both parts", () => {
  expect(clamped(50, limits)).toBe(120);
  expect(clamped(9_000, limits)).toBe(700);
  expect(clamped(300, { min: 120, max: 40 })).toBe(120);
});

test("an arrow moves the bar, and Shift moves it further", () => {
  expect(stepped("ArrowUp", false, "h", 300, limits, 300)).toBe(316);
  expect(stepped("ArrowDown", true, "h", 300, limits, 300)).toBe(236);
  expect(stepped("ArrowLeft", false, "v", 300, limits, 300)).toBe(316);
  expect(stepped("ArrowLeft", false, "h", 300, limits, 300)).toBeNull();
});

test("Home and End go to the limits, Enter goes back", () => {
  expect(stepped("Home", false, "h", 300, limits, 260)).toBe(120);
  expect(stepped("End", false, "h", 300, limits, 260)).toBe(700);
  expect(stepped("Enter", false, "h", 480, limits, 260)).toBe(260);
  expect(stepped("a", false, "h", 480, limits, 260)).toBeNull();
});
