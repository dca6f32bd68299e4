import { describe, expect, it } from "vitest";
import {
  found,
  isDirty,
  keptMine,
  opened,
  readKept,
  saved,
  toKeep,
  tookTheirs,
  unified,
  written,
} from "./draft";
import type { EntryFile } from "./wire";

const file = (text: string, digest = `digest of ${text}`): EntryFile => ({
  path: "/work/airboss.yaml",
  exists: true,
  format: "yaml",
  text,
  digest,
  modified_at: 1,
  in_use: true,
  writable: true,
});

const mine = written(opened(file("a"), null), "mine");

describe("a draft", () => {
  it("is clean as long as it is what the file has", () => {
    expect(isDirty(opened(file("a"), null))).toBe(false);
    expect(isDirty(mine)).toBe(true);
    expect(isDirty(written(mine, "a"))).toBe(false);
  });

  it("is no other for the way in which its lines end", () => {
    const windows = opened(file("a\r\nb\r\n"), null);
    expect(windows.text).toBe("a\nb\n");
    expect(isDirty(written(windows, "a\nb\n"))).toBe(false);
    expect(unified("a\rb")).toBe("a\nb");
  });

  it("is saved as the version that the server wrote", () => {
    const after = saved(mine, "mine", file("mine"));
    expect([isDirty(after), after.base.digest]).toEqual([false, "digest of mine"]);
    const typedOn = saved(written(mine, "mine, and more"), "mine", file("mine"));
    expect(isDirty(typedOn)).toBe(true);
  });
});

describe("a file changed elsewhere", () => {
  it("is shown at once where nothing of one's own is at stake", () => {
    const after = found(opened(file("a"), null), file("b"));
    expect([after.text, after.other, isDirty(after)]).toEqual(["b", null, false]);
  });

  it("waits for a decision where something is", () => {
    const after = found(mine, file("theirs"));
    expect([after.text, after.other?.text, after.base.text]).toEqual(["mine", "theirs", "a"]);
  });

  it("is no question where both wrote the same", () => {
    const after = found(mine, file("mine", "another digest"));
    expect([after.other, isDirty(after), after.base.digest]).toEqual([
      null,
      false,
      "another digest",
    ]);
  });

  it("is no question any more once it is as it was", () => {
    expect(found(found(mine, file("theirs")), file("a")).other).toBeNull();
  });

  it("is replaced by the next save if mine is kept", () => {
    const after = keptMine(found(mine, file("theirs")));
    expect([after.text, after.base.digest, after.other]).toEqual([
      "mine",
      "digest of theirs",
      null,
    ]);
    expect(isDirty(after)).toBe(true);
  });

  it("replaces mine if theirs is taken", () => {
    const after = tookTheirs(found(mine, file("theirs")));
    expect([after.text, isDirty(after)]).toEqual(["theirs", false]);
  });

  it("may be gone", () => {
    const gone = { ...file("", ""), exists: false, digest: null };
    expect(found(mine, gone).other).toMatchObject({ exists: false, digest: null });
  });
});

describe("what the browser keeps", () => {
  it("is nothing where the file has it all", () => {
    expect(toKeep(opened(file("a"), null))).toBeNull();
  });

  it("brings back what was written, to the last letter", () => {
    const kept = readKept(JSON.stringify(toKeep(mine)));
    expect(opened(file("a"), kept)).toEqual(mine);
  });

  it("asks if the file has changed since", () => {
    const kept = readKept(JSON.stringify(toKeep(mine)));
    expect(opened(file("theirs"), kept)).toMatchObject({ text: "mine", other: { text: "theirs" } });
  });

  it("is left alone where it cannot be read", () => {
    for (const bad of [null, "", "{", "[]", '{"text": 1}', "null"])
      expect(readKept(bad)).toBeNull();
  });
});
