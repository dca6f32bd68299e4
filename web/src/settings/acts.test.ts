import { describe, expect, it } from "vitest";
import { actInWords, actorInWords } from "./acts";

const by = { who: "ci", address: "127.0.0.1", via: "cli" } as const;

describe("an act in words", () => {
  it("says what was refused, and how often", () => {
    const event = {
      kind: "audit.refused",
      by: { via: "api", address: "::1" },
      status: 403,
      code: "role_needed",
      method: "POST",
      path: "/api/v1/stop",
      count: 12,
    } as const;
    expect(actInWords({ event })).toBe("Refused: 403 role_needed, POST /api/v1/stop, 12 times");
    expect(actorInWords(event)).toBe("unknown, ::1, from the API");
  });

  it("says what became of a token", () => {
    const event = {
      kind: "audit.token.changed",
      by,
      change: "added",
      token: { name: "ci", role: "operate" },
      changed_at: 1,
    } as const;
    expect(actInWords({ event })).toBe("Token ci added, role operate");
    expect(actorInWords(event)).toBe("ci, 127.0.0.1, from the command line");
  });

  it("says what became of an extension", () => {
    const event = {
      kind: "audit.extension.changed",
      by,
      change: "disabled",
      name: "no-push",
      scope: "project",
      path: "/home/me/shop/.github/extensions/no-push",
    } as const;
    expect(actInWords({ event })).toBe(`Extension no-push disabled: ${event.path}`);
  });
});
