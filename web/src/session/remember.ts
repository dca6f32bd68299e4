/** What a person did to blocks, kept while a block is out of the page. */

import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** Null until a person said otherwise. */
type Choice = Signal<boolean | null>;

export class Remembered {
  #choices = new Map<string, Choice>();

  of(block: string, what: "open" | "raw" | "all"): Choice {
    const key = `${what} ${block}`;
    const known = this.#choices.get(key) ?? signal<boolean | null>(null);
    this.#choices.set(key, known);
    return known;
  }
}

export const Remembering = createContext(new Remembered());

export const useChoice = (block: string, what: "open" | "raw" | "all"): Choice =>
  useContext(Remembering).of(block, what);

/** Starts a copy of the session that ends before this message; null while it cannot be copied. */
export const ForksBefore = createContext<((prompt: string) => void) | null>(null);

/** The session whose blocks they are. */
export const Home = createContext<string | null>(null);
