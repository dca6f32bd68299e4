/** What can be done from the palette, and how a few letters find it. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { IconName } from "./icon";

export type Command = {
  id: string;
  label: string;
  /** Beside the label, and searched too. */
  about?: string;
  icon: IconName;
  key?: string;
  run: () => void;
};

export const pageCommands = signal<readonly Command[]>([]);

/** What can be done on this page, for as long as the component is there. */
export function useCommands(commands: readonly Command[]): void {
  const told = commands.map(({ id, label, about }) => `${id} ${label} ${about}`).join("\n");
  // told is what they say
  useEffect(() => {
    pageCommands.value = commands;
    return () => {
      pageCommands.value = [];
    };
  }, [told]);
}

/** How well the letters are found in the text, in their order; null where they are not. Pure. */
export function score(letters: string, text: string): number | null {
  const wanted = letters.toLowerCase();
  const said = text.toLowerCase();
  if (wanted === "") return 0;
  const whole = said.indexOf(wanted);
  if (whole === 0) return 1_000;
  if (whole > 0) return isStart(said, whole) ? 800 : 600;
  let points = 0;
  let place = -1;
  for (const letter of wanted.replaceAll(" ", "")) {
    const next = said.indexOf(letter, place + 1);
    if (next === -1) return null;
    if (next === place + 1) points += 4;
    else if (isStart(said, next)) points += 6;
    else points -= Math.min(3, next - place - 1);
    place = next;
  }
  return points;
}

const isStart = (text: string, place: number): boolean =>
  place === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(place - 1));

/** The best first; those that are equally good stay as they were. */
export function found<Item extends Pick<Command, "label" | "about">>(
  letters: string,
  items: readonly Item[],
): Item[] {
  return items
    .map((item) => ({ item, points: best(letters.trim(), item) }))
    .filter(({ points }) => points !== null)
    .sort((a, b) => (b.points ?? 0) - (a.points ?? 0))
    .map(({ item }) => item);
}

function best(letters: string, { label, about }: Pick<Command, "label" | "about">): number | null {
  const named = score(letters, label);
  const told = about === undefined ? null : score(letters, about);
  if (named === null) return told === null ? null : told - 100;
  return named;
}
