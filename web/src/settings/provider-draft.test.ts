import { describe, expect, it } from "vitest";
import {
  factsInWords,
  firstChoice,
  modelsOf,
  NEW_PROVIDER,
  namesIn,
  needsTick,
  placeOf,
} from "./provider-draft";

describe("a provider as it is entered", () => {
  it("says only what its kind has", () => {
    const draft = { ...NEW_PROVIDER, address: " https://x/v1 ", wire: "responses" as const };
    const place = { base_url: "https://x/v1", private: false };
    expect(placeOf(draft)).toEqual({ type: "openai", wire: "responses", ...place });
    expect(placeOf({ ...draft, kind: "anthropic", version: "1", key: " k " })).toEqual({
      type: "anthropic",
      key: "k",
      ...place,
    });
    expect(placeOf({ ...draft, kind: "azure", wire: "completions", version: "2025" })).toEqual({
      type: "azure",
      api_version: "2025",
      ...place,
    });
  });

  it("needs a tick for plain http to other machines only", () => {
    expect(needsTick("http://10.4.0.12:8000/v1")).toBe(true);
    for (const fine of [
      "https://x",
      "http://localhost:1",
      "http://127.0.0.1/v1",
      "http://[::1]",
      "",
    ])
      expect(needsTick(fine)).toBe(false);
  });

  it("names models by what the test knows of them", () => {
    const offered = [
      { id: "a", context_tokens: 262_144, vision: null, efforts: true, chat: true },
      { id: "b", context_tokens: null, vision: false, efforts: null, chat: true },
    ];
    expect(modelsOf(offered, new Set(["a", "b", "c"]))).toEqual([
      { id: "a", prompt_tokens: 262_144, efforts: ["low", "medium", "high"] },
      { id: "b", vision: false },
      { id: "c" },
    ]);
    expect(namesIn(" a, b\nb  c,")).toEqual(["a", "b", "c"]);
    expect(factsInWords({ id: "x", chat: false })).toBe("not a chat model");
    expect(factsInWords({ id: "x", chat: true, vision: true, efforts: true })).toBe(
      "accepts images, reasoning efforts",
    );
  });

  it("keeps the choice over another test", () => {
    expect([...firstChoice({ ok: true, model: "m" }, ["a"])]).toEqual(["a"]);
    expect([...firstChoice({ ok: true, model: "m" }, [])]).toEqual(["m"]);
  });
});
