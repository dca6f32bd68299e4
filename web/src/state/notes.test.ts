import { expect, test } from "vitest";
import { noteOf } from "./notes";

const crash = { kind: "extension.ended", name: "shop", reason: "It fell.", crashed: true } as const;

test("a crash says what becomes of the extension", () => {
  const again = noteOf({ ...crash, restart_in: 2 });
  expect(again?.title).toBe("Extension shop crashed");
  expect(again?.text).toBe("It fell.\nIt restarts after 2 s.");
  const last = noteOf({ ...crash, restart_in: null });
  expect(last?.title).toBe("Extension shop failed");
  expect(last?.text).toContain("reload the extensions");
});

test("one that is stopped in order is nothing to tell", () => {
  expect(noteOf({ ...crash, crashed: false })).toBe(null);
});
