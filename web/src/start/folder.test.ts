import { expect, test } from "vitest";
import { folderFor, folderInWords } from "./folder";

test("without a project one begins in the repository", () => {
  expect(folderFor("/home/dev/harbor", null)).toBe("/home/dev/harbor");
  expect(folderFor("/home/dev/harbor", "")).toBe("/home/dev/harbor");
});

test("a project lies beside the repository, on every system", () => {
  expect(folderFor("/home/dev/harbor", "tern")).toBe("/home/dev/tern");
  expect(folderFor("/harbor", "tern")).toBe("/tern");
  expect(folderFor("C:\\work\\harbor", "tern")).toBe("C:\\work\\tern");
});

test("the page says which folder that is", () => {
  const root = "/home/dev/harbor";
  expect(folderInWords(root, root, null)).toContain("root of the repository");
  expect(folderInWords("/home/dev/tern", root, "tern")).toContain("next to the repository");
  expect(folderInWords("/home/dev/tern", root, null)).toBe("An absolute path.");
  expect(folderInWords("", null, "tern")).toBe("An absolute path.");
});
