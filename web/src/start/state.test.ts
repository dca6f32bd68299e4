import { expect, test } from "vitest";
import { entryInWords, freshness, type Happening, NOTHING_YET, reduce, type Start } from "./state";

const AT = 1_000_000;
const status = {
  version: "0.1.0",
  rehearsal: false,
  policy: "read-only",
  copilot: { signedIn: true, login: "mona", how: null, detail: null },
  entry: null,
};
const one = { id: "ses_1", state: "running", title: null, model: null, cwd: null, updatedAt: AT };
const page = { sessions: [one], more: false };
const heard: Happening = { kind: "heard", at: AT, status, page };
const lost: Happening = { kind: "trouble", trouble: { kind: "lost" } };

const after = (...happenings: Happening[]): Start => happenings.reduce(reduce, NOTHING_YET);

test("before the first answer the page claims nothing", () => {
  expect(NOTHING_YET.gate).toBe("asking");
  expect(freshness(NOTHING_YET, AT)).toEqual({ kind: "connecting" });
});

test("whoever is answered is in, and the page is live", () => {
  const start = after(heard);
  expect(start).toMatchObject({ gate: "in", status, page, heardAt: AT, trouble: null });
  expect(freshness(start, AT + 3_000)).toEqual({ kind: "live" });
});

test("a server that never answered is unreachable, not empty and not a sign-in page", () => {
  const start = after(lost);
  expect(start.gate).toBe("asking");
  expect(freshness(start, AT)).toEqual({ kind: "unreachable" });
});

test("a lost server keeps the page, which says how old it is", () => {
  const start = after(heard, lost);
  expect(start.page).toEqual(page);
  expect(freshness(start, AT + 4_000)).toEqual({ kind: "reconnecting", seconds: 4 });
  expect(freshness(start, AT + 30_001)).toEqual({ kind: "stale", since: AT });
});

test("a page that slept is not live because nobody told it otherwise", () => {
  expect(freshness(after(heard), AT + 20_000)).toEqual({ kind: "reconnecting", seconds: 20 });
  expect(freshness(after(heard), AT + 3_600_000)).toEqual({ kind: "stale", since: AT });
});

test("an answer ends the trouble", () => {
  expect(freshness(after(heard, lost, { ...heard, at: AT + 9 }), AT + 10)).toEqual({
    kind: "live",
  });
});

test("whoever is signed out sees nothing more of what was there", () => {
  expect(after(heard, { kind: "signed out" })).toEqual({ ...NOTHING_YET, gate: "out" });
});

test("a refused code says why, until somebody is in", () => {
  const refused: Happening = { kind: "code refused", detail: "It was used." };
  expect(after(refused, { kind: "signed out" }).refusal).toBe("It was used.");
  expect(after({ kind: "code refused", detail: null }).refusal).toBe(
    "The server did not take this code.",
  );
  expect(after(refused, heard).refusal).toBeNull();
});

test("an entry is named by its file, or by where it came from", () => {
  const file = { source: "file", path: "/w/airboss.yaml", problem: null };
  expect(entryInWords(file)).toBe("/w/airboss.yaml");
  expect(entryInWords({ ...file, source: "test" })).toBe("/w/airboss.yaml, installed for a test");
  expect(entryInWords({ source: "built-in", path: null, problem: null })).toBe(
    "The built-in one. Write an airboss.yaml for your own.",
  );
  expect(entryInWords({ source: "api", path: null, problem: null })).toBe(
    "Installed until the server ends",
  );
});
