/** The fields of an entry, and how one of them is found. Pure. */

export type Path = readonly (string | number)[];

/** A key with its value, or an item of a list (then the key's place is the value's). */
export type Field = {
  path: Path;
  from: number;
  to: number;
  /** Of a plain or quoted value. */
  value: string | null;
  valueFrom: number;
  valueTo: number;
};

/** What is being written at a place. */
export type Place = {
  /** `open`: a key, or a value, as what belongs there says. `text`: nothing to be offered. */
  kind: "key" | "value" | "open" | "text";
  /** Of the value, or of the map that the key is in. */
  path: Path;
  word: string;
  /** Where the word begins. */
  from: number;
  /** Between brackets, where a new line means nothing. */
  isFlow: boolean;
  quote: string;
  /** How far the line is indented up to here. */
  column: number;
};

/** The names directly below a key of the entry: `tasks`, `models`. */
export function namesBelow(fields: readonly Field[], key: string): string[] {
  const names = fields.flatMap(({ path }) =>
    path.length === 2 && path[0] === key && typeof path[1] === "string" ? [path[1]] : [],
  );
  return [...new Set(names)];
}

export const samePath = (a: Path, b: Path): boolean =>
  a.length === b.length && a.every((part, at) => part === b[at]);

export const valueAt = (fields: readonly Field[], path: Path): string | null =>
  fields.find((field) => samePath(field.path, path))?.value ?? null;

/** What is written already in the same map. */
export function keysIn(fields: readonly Field[], path: Path): string[] {
  return fields.flatMap((field) => {
    const key = field.path.at(-1);
    return typeof key === "string" && samePath(field.path.slice(0, -1), path) ? [key] : [];
  });
}
