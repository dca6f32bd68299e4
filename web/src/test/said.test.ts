import { expect, test } from "vitest";
import { inWords } from "./said";

test("the server's message is shown", () => {
  expect(inWords({ kind: "ok", body: { message: "Hello, world!" } })).toEqual({
    kind: "message",
    text: "Hello, world!",
  });
});

test("without a sign-in it says so", () => {
  expect(inWords({ kind: "refused", detail: null }).kind).toBe("signed-out");
});

test("every other answer is a trouble in words", () => {
  expect(inWords({ kind: "lost" }).text).toBe(
    "The server is not responding. Check that it is running.",
  );
  expect(inWords({ kind: "ok", body: {} }).text).toBe("The server answered without a message.");
  expect(inWords({ kind: "failed", status: 503, detail: "Starting." }).text).toBe(
    "The server returned an error. Starting.",
  );
});
