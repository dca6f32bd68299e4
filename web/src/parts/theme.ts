/** The theme: the system's, or the one that a person chose on this device. */

import { signal } from "@preact/signals";
import { remember, remembered } from "../storage";

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const read = (): Theme => {
  const kept = remembered("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
};

export const theme = signal<Theme>(read());

export function choose(next: Theme): void {
  theme.value = next;
  remember("theme", next === "system" ? null : next);
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

export const following = (current: Theme): Theme =>
  THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? "system";
