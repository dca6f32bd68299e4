/** A provider as somebody enters it, and what a test of it says. Pure. */

import type { OfferedByProvider, ProviderFacts, TrialResult } from "../api/types.gen";
import { tokens } from "../words";

export type ProviderKind = ProviderFacts["type"];

export const KINDS: Record<ProviderKind, { word: string; like: string }> = {
  openai: { word: "OpenAI-compatible", like: "https://llm.example.com/v1" },
  azure: { word: "Azure", like: "https://work.openai.azure.com" },
  anthropic: { word: "Anthropic", like: "https://api.anthropic.com" },
};

export type ProviderDraft = {
  kind: ProviderKind;
  name: string;
  address: string;
  ours: boolean;
  key: string;
  wire: "completions" | "responses";
  version: string;
  /** Names of models, where the provider has no list. */
  named: string;
};

export const NEW_PROVIDER: ProviderDraft = {
  kind: "openai",
  name: "",
  address: "",
  ours: false,
  key: "",
  wire: "completions",
  version: "",
  named: "",
};

/** What the server is told of where it is; without a name, a key that is empty is none. */
export function placeOf({ kind, address, ours, key, wire, version }: ProviderDraft) {
  return {
    type: kind,
    base_url: address.trim(),
    private: ours,
    ...(kind !== "anthropic" && wire === "responses" && { wire }),
    ...(kind === "azure" && version.trim() !== "" && { api_version: version.trim() }),
    ...(key.trim() !== "" && { key: key.trim() }),
  };
}

/** The names in a line, parted by commas or spaces. */
export const namesIn = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((name) => name !== "")),
];

/** Whether plain http to this address needs the tick: it is neither this machine nor safe. */
export function needsTick(address: string): boolean {
  if (!/^http:\/\/./i.test(address.trim())) return false;
  return !/^http:\/\/(localhost|127\.|\[::1\])/i.test(address.trim());
}

/** What people may use of what it offers, in the server's words. */
export function modelsOf(offered: readonly OfferedByProvider[], chosen: ReadonlySet<string>) {
  const known = new Map(offered.map((model) => [model.id, model]));
  return [...chosen].map((id) => {
    const model = known.get(id);
    return {
      id,
      ...(model?.context_tokens != null && { prompt_tokens: model.context_tokens }),
      ...(model?.vision === false && { vision: false }),
      ...(model?.efforts === true && { efforts: ["low", "medium", "high"] }),
    };
  });
}

/** What is ticked after a test: what was ticked before, else the model that was called. */
export function firstChoice({ model }: TrialResult, before: readonly string[]): Set<string> {
  if (before.length > 0) return new Set(before);
  return new Set(model == null ? [] : [model]);
}

export function factsInWords({ context_tokens, vision, efforts, chat }: OfferedByProvider): string {
  if (chat === false) return "not a chat model";
  const facts = [
    context_tokens == null ? "" : `${tokens(context_tokens)} context`,
    vision === true ? "accepts images" : "",
    efforts === true ? "reasoning efforts" : "",
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

export const howMany = (count: number): string => (count === 1 ? "1 model" : `${count} models`);

export const hostOf = (address: string): string => {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
};
