import { expect, test } from "vitest";
import { whatEnds } from "./stop";

test("it says what ends, and what goes on by itself", () => {
  expect(whatEnds(0, 0)).toBe("No session is open. No job runs.");
  expect(whatEnds(1, 1)).toBe(
    "1 open session is interrupted: you can resume it after the next start, with all that was said. 1 job pauses, and goes on by itself at the next start; finished tasks are kept.",
  );
  expect(whatEnds(3, 2)).toContain("2 jobs pause, and go on by themselves at the next start");
});
