import { expect, it } from "vitest";
import type { ChangedFile } from "../api/types.gen";
import { fileRowsOf } from "./file-rows";

const file = (path: string, ...tasks: string[]): ChangedFile => ({
  path,
  how: "edited",
  added: 2,
  removed: 1,
  tasks,
  is_text: true,
});

const words = (count: number) =>
  Array.from({ length: count }, (_, at) => file(`src/words/l${at}.json`, `translate · ${at + 1}`));

it("makes one row of what one folded task wrote again and again", () => {
  const rows = fileRowsOf([file("a.py", "build"), ...words(18), file("z.py", "build")]);
  expect(rows.map((row) => row.kind)).toEqual(["file", "files", "file"]);
  expect(rows[1]).toMatchObject({
    pattern: "src/words/*.json",
    by: "translate × 18",
    added: 36,
    removed: 18,
  });
  const [, many] = rows;
  expect(many?.kind === "files" && many.files.map((one) => one.place)).toEqual(
    Array.from({ length: 18 }, (_, at) => at + 1),
  );
});

it("leaves files alone that are few, that one task wrote, or that are of several folders", () => {
  expect(fileRowsOf(words(3)).every((row) => row.kind === "file")).toBe(true);
  const ofOne = words(9).map((one) => ({ ...one, tasks: ["build"] }));
  expect(fileRowsOf(ofOne)).toHaveLength(9);
  const apart = words(9).map((one, at) => ({ ...one, path: `${at}/index` }));
  expect(fileRowsOf(apart)).toHaveLength(9);
  const unknown = words(9).map((one) => ({ ...one, tasks: [] }));
  expect(fileRowsOf(unknown)).toHaveLength(9);
  expect(fileRowsOf([])).toEqual([]);
});
