import { expect, test } from "vitest";
import { answerOf, fieldsOf, startOf } from "./schema";

const FORM = JSON.stringify({
  type: "object",
  properties: {
    city: { type: "string", title: "City" },
    days: { type: "integer", minimum: 1, default: 3 },
    flies: { type: "boolean" },
    stops: { type: "array", items: { type: "string" } },
    class: { type: "string", enum: ["first", "second"] },
  },
  required: ["city"],
});

test("a schema becomes fields, with what they say of themselves", () => {
  const fields = fieldsOf(FORM) ?? [];
  expect(fields.map(({ label, kind, required }) => [label, kind, required])).toEqual([
    ["City", "line", true],
    ["days", "number", false],
    ["flies", "tick", false],
    ["stops", "list", false],
    ["class", "choice", false],
  ]);
  expect(fields[1]?.hint).toBe("At least 1.");
  expect(startOf(fields)).toEqual({ city: "", days: "3", flies: false, stops: "", class: "" });
});

test("what was filled in is JSON of the right types, and what was left out is not in it", () => {
  const fields = fieldsOf(FORM) ?? [];
  const filled = { city: "Oslo", days: "2", flies: true, stops: "Bergen\n\n Voss ", class: "" };
  expect(answerOf(fields, filled)).toEqual({
    json: '{"city":"Oslo","days":2,"flies":true,"stops":["Bergen","Voss"]}',
  });
});

test("what is wrong is said at its field", () => {
  const fields = fieldsOf(FORM) ?? [];
  expect(answerOf(fields, { city: " ", days: "many" })).toEqual({
    wrong: { city: "This field is required.", days: "Enter a number." },
  });
  expect(answerOf(fields, { city: "Oslo", days: "1.5" })).toEqual({
    wrong: { days: "Enter a whole number." },
  });
});

test("what is no form is none", () => {
  expect(fieldsOf("{")).toBeNull();
  expect(fieldsOf("[]")).toBeNull();
  expect(fieldsOf('{"type":"object"}')).toBeNull();
});
