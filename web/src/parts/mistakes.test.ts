import { expect, test } from "vitest";
import { fileName, inAll, placeOf } from "./mistakes";

const mistake = { where: "entry", reason: "Should exist.", is_around: false, excerpt: [] };

test("a mistake is named by its file, line and column", () => {
  expect(placeOf("airboss.yaml", { ...mistake, line: 6, column: 23 })).toBe("airboss.yaml:6:23");
});

test("where the line is not known, the file's name is enough", () => {
  expect(placeOf("airboss.py", { ...mistake, line: null })).toBe("airboss.py");
});

test("a file is known by its name, on every machine", () => {
  expect(fileName("/home/ann/airboss.yaml")).toBe("airboss.yaml");
  expect(fileName("C:\\work\\airboss.yaml")).toBe("airboss.yaml");
  expect(fileName(null)).toBeNull();
});

test("one mistake is one", () => {
  expect([inAll(1), inAll(2)]).toEqual(["1 error", "2 errors"]);
});
