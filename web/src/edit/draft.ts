/** The text that is being written, the version of the file that it began with, and what was found on
    the disk meanwhile. Nothing here is ever overwritten unasked. Pure. */

import type { EntryFile } from "./wire";

export type Version = Pick<EntryFile, "text" | "exists"> & {
  digest: string | null;
  modifiedAt: number | null;
};

export type Draft = {
  path: string;
  text: string;
  /** The version that was opened or saved last. */
  base: Version;
  /** Another version, which somebody else wrote: to be decided about before anything is saved. */
  other: Version | null;
  /** Answers for a rehearsal that came with the example which this began with. */
  script: string | null;
};

/** What a browser keeps of a draft that was not saved. */
export type Kept = Pick<Draft, "text" | "script"> & { base: Version };

/** Lines end as the editor has them; the server writes them as the file has them. */
export const unified = (text: string): string => text.replace(/\r\n?/g, "\n");

export const versionOf = (file: EntryFile): Version => ({
  text: unified(file.text),
  exists: file.exists,
  digest: file.digest ?? null,
  modifiedAt: file.modified_at ?? null,
});

/** The file, or what was written before a reload or a crash. */
export function opened(file: EntryFile, kept: Kept | null): Draft {
  const base = versionOf(file);
  const { path } = file;
  if (kept === null) return { path, text: base.text, base, other: null, script: null };
  const draft = { path, text: kept.text, base: kept.base, other: null, script: kept.script };
  return found(draft, file);
}

export const written = (draft: Draft, text: string): Draft =>
  text === draft.text ? draft : { ...draft, text };

/** What is on the disk now. The same version, or the same words, are no news. */
export function found(draft: Draft, file: EntryFile): Draft {
  const disk = versionOf(file);
  if (disk.digest === draft.base.digest) {
    return draft.other === null ? draft : { ...draft, other: null };
  }
  // Nothing of one's own is at stake: what others wrote is shown at once.
  if (!isDirty(draft)) return { ...draft, text: disk.text, base: disk, other: null };
  if (disk.text === draft.text) return { ...draft, base: disk, other: null };
  if (draft.other?.digest === disk.digest) return draft;
  return { ...draft, other: disk };
}

/** The file has this text now; what was written while it was saved is not in it. */
export const saved = (draft: Draft, text: string, file: EntryFile): Draft => ({
  ...draft,
  base: { ...versionOf(file), text },
  other: null,
});

/** The next save replaces the other version. */
export const keptMine = (draft: Draft): Draft =>
  draft.other === null ? draft : { ...draft, base: draft.other, other: null };

export const tookTheirs = (draft: Draft): Draft =>
  draft.other === null
    ? draft
    : { ...draft, text: draft.other.text, base: draft.other, other: null, script: null };

export const isDirty = (draft: Draft): boolean => draft.text !== draft.base.text;

/** Null where the file has it all. */
export const toKeep = (draft: Draft): Kept | null =>
  isDirty(draft) ? { text: draft.text, base: draft.base, script: draft.script } : null;

export function readKept(json: string | null): Kept | null {
  try {
    const kept = JSON.parse(json ?? "null") as Kept | null;
    const isOne = typeof kept?.text === "string" && typeof kept.base?.text === "string";
    return isOne ? kept : null;
  } catch {
    return null;
  }
}
