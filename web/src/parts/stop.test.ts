import { expect, test } from "vitest";
import { whatEnds } from "./stop";

test("it says what ends, and what goes on by itself", () => {
  expect(whatEnds(0, 0)).toBe("No session is open. No job is running.");
  expect(whatEnds(1, 1)).toBe(
    "1 open session will be interrupted. You can resume it after a restart, with its full conversation. 1 job will pause and resume automatically after a restart. Finished tasks are kept.",
  );
  expect(whatEnds(3, 2)).toContain("2 jobs will pause and resume automatically after a restart");
});
