import { expect, it } from "vitest";
import { pairsOf } from "./split";

it("puts what A left beside what B left, line by line", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n same\n-one\n+eins\n+zwei\n end\n";
  expect(pairsOf(diff).map(({ a, b }) => [a.look, a.text, b.look, b.text])).toEqual([
    ["head", "@@ -1,3 +1,4 @@", "head", "@@ -1,3 +1,4 @@"],
    ["same", "same", "same", "same"],
    ["own", "one", "own", "eins"],
    ["void", "", "own", "zwei"],
    ["same", "end", "same", "end"],
  ]);
});
