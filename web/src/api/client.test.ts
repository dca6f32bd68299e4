import { afterEach, expect, test, vi } from "vitest";
import { get, judge, post } from "./client";
import { forgetKeys, keepKey } from "./key";

afterEach(() => {
  forgetKeys();
  vi.unstubAllGlobals();
});

test("an answer is judged by its status, and says the server's sentence", () => {
  expect(judge(200, { a: 1 })).toEqual({ kind: "ok", body: { a: 1 } });
  expect(judge(204, null)).toEqual({ kind: "ok", body: null });
  expect(judge(401, { detail: "Used." })).toEqual({ kind: "refused", detail: "Used." });
  expect(judge(401, null)).toEqual({ kind: "refused", detail: null });
  expect(judge(503, { detail: "Starting." })).toEqual({
    kind: "failed",
    status: 503,
    detail: "Starting.",
  });
  expect(judge(500, null)).toEqual({
    kind: "failed",
    status: 500,
    detail: "The server returned status 500. Try again.",
  });
});

test("a body that is no JSON is no body", async () => {
  vi.stubGlobal("fetch", async () => new Response("<html>", { status: 502 }));
  expect(await get("/x")).toEqual({
    kind: "failed",
    status: 502,
    detail: "The server returned status 502. Try again.",
  });
});

test("an answer says as of which change it is, where the server does", async () => {
  const headers = { "X-Airboss-Lists": "1794809000000001" };
  vi.stubGlobal("fetch", async () => new Response("[]", { headers }));
  expect(await get("/x")).toEqual({ kind: "ok", body: [], lists: 1794809000000001 });
});

test("no answer is a value too", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("refused");
  });
  expect(await get("/x")).toEqual({ kind: "lost" });
});

test("what is sent is JSON, with this origin's cookie and the page's key", async () => {
  const fetch = vi.fn(async () => new Response(null, { status: 204 }));
  vi.stubGlobal("fetch", fetch);
  keepKey("k");
  expect(await post("/api/v1/signin", { code: "c" })).toEqual({ kind: "ok", body: null });
  expect(fetch).toHaveBeenCalledExactlyOnceWith("/api/v1/signin", {
    method: "POST",
    headers: { "X-Airboss-Key": "k", "Content-Type": "application/json" },
    body: '{"code":"c"}',
    credentials: "same-origin",
    signal: expect.any(AbortSignal),
  });
});
