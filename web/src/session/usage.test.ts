import { expect, test } from "vitest";
import { NO_USAGE } from "../state/usage";
import { briefOf } from "./usage";

test("limits are counted in words, one of each in the singular", () => {
  const limits = { turns: 1, tokens: 2_000_000, idle_minutes: 1 };
  const view = { usage: NO_USAGE, spending: NO_USAGE, limits } as never;
  expect(briefOf(view, null, null).limits).toEqual(["1 turn", "2,000,000 tokens", "1 idle minute"]);
});
