import { expect, test } from "vitest";
import { returnedOf } from "./returned";

test("what an authorization server adds to the address is found, and nothing else", () => {
  expect(returnedOf("?code=c%2F1&state=s&iss=https%3A%2F%2Fin.example&more=x")).toEqual({
    state: "s",
    code: "c/1",
    iss: "https://in.example",
  });
  expect(returnedOf("?error=access_denied&state=s")).toEqual({
    state: "s",
    error: "access_denied",
  });
});

test("an ordinary address brings nothing back", () => {
  expect(returnedOf("")).toBe(null);
  expect(returnedOf("?state=s")).toBe(null);
  expect(returnedOf("?code=c")).toBe(null);
});
