import { describe, expect, it } from "vitest";
import { addressOf, canBeTrusted, whereOf, whyNotHere } from "./extension-words";

describe("an extension on the page", () => {
  it("has an address that no name leads out of", () => {
    expect(addressOf({ scope: "user", name: "../x?y" })).toBe("/api/v1/extensions/user/..%2Fx%3Fy");
  });

  it("is asked about in the folder that somebody chose", () => {
    expect(whereOf("/a", "")).toBe("/a");
    expect(whereOf("/a", "/home/me/a b&c")).toBe("/a?cwd=%2Fhome%2Fme%2Fa+b%26c");
  });

  it("can be trusted where its content is known and nobody has trusted that", () => {
    expect(canBeTrusted({ state: "untrusted", digest: "d" })).toBe(true);
    expect(canBeTrusted({ state: "changed", digest: "d" })).toBe(true);
    expect(canBeTrusted({ state: "changed", digest: "" })).toBe(false);
    expect(canBeTrusted({ state: "ready", digest: "d" })).toBe(false);
    expect(canBeTrusted({ state: "disabled", digest: "d" })).toBe(false);
  });

  it("is trusted elsewhere where the page cannot show all of it", () => {
    const seen = { name: "big", path: "/p/big", digest: "d", left_out: [] as string[] };
    expect(whyNotHere(seen)).toBeNull();
    expect(whyNotHere({ ...seen, left_out: ["a.txt", "b.bin"] })).toBe(
      "big cannot be trusted here, because not all of it can be shown: a.txt, b.bin. " +
        "Read it in its folder, then run: airboss trust /p/big --digest d",
    );
  });
});
