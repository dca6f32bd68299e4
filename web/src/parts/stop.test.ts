import { expect, test } from "vitest";
import { whatEnds } from "./stop";

test("whoever stops the server knows what ends and what is kept", () => {
  expect(whatEnds(0, 0)).toBe("No session is open. No job runs.");
  expect(whatEnds(1, 3)).toBe(
    "1 session ends. It can be resumed at the next start. 3 jobs pause and go on at the next start; finished tasks are kept.",
  );
  expect(whatEnds(2, 1)).toBe(
    "2 sessions end. They can be resumed at the next start. 1 job pauses and goes on at the next start; finished tasks are kept.",
  );
  expect(whatEnds(1, 0, 1)).toBe("No other session is open. No job runs.");
  expect(whatEnds(2, 0, 1)).toBe(
    "1 other session ends. It can be resumed at the next start. No job runs.",
  );
});
