import { expect, test } from "vitest";
import type { Permission } from "../../state/types";
import { permittedInFull, permittedInWords } from "./permitted";

const permission = (by: string, more: Partial<Permission> = {}): Permission => ({
  allowed: true,
  by,
  reason: "Because.",
  rule: null,
  ...more,
});

const RULE = { verdict: "allow", wish: "shell", command: "pytest *", folder: "/w" } as const;

test("a rule is named by what it allows, a policy by its name, a person by theirs", () => {
  const words = permittedInWords(permission("rule rul_1", { rule: RULE }));
  expect(words).toBe("Allowed by rule shell pytest *");
  expect(permittedInWords(permission("policy approve-all"))).toBe("Allowed by policy approve-all");
  expect(permittedInWords(permission("person owner"))).toBe("Allowed earlier by owner");
  expect(permittedInWords(permission("rule session"))).toBe("Allowed for this session");
});

test("a denial says by what", () => {
  const no = { allowed: false };
  expect(permittedInWords(permission("policy read-only", no))).toBe("Denied by policy read-only");
  expect(permittedInWords(permission("size", no))).toBe("Denied: too long to show");
  expect(permittedInWords(permission("limit", no))).toBe("Denied: limit reached");
  expect(permittedInWords(permission("nobody", no))).toBe("Denied: nobody decided");
});

test("a long rule is cut in the row and whole in the full words", () => {
  const long = { ...RULE, command: `echo ${"x".repeat(200)}` };
  const given = permission("rule rul_1", { rule: long });
  expect(permittedInWords(given).length).toBeLessThan(60);
  expect(permittedInFull(given)).toContain("x".repeat(200));
  expect(permittedInFull(given)).toContain("in /w → allow");
});

test("what is not of a rule says its reason in full", () => {
  expect(permittedInFull(permission("policy approve-all"))).toBe(
    "Allowed by policy approve-all. Because.",
  );
});
