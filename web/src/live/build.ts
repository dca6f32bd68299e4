/** Which build of the pages this one is of. A server that was upgraded has another, and reads events
 *  in its own way: this page would differ from it, and heal, for ever. */

const DONE = "airboss.reloaded";
const LOOK_MS = 1_000;

export type Visit = {
  /** The build of this page; null where it says none, as while the pages are developed. */
  readonly own: string | null;
  readonly storage: Pick<Storage, "getItem" | "setItem">;
};

const visit: Visit = {
  get own() {
    const said = document.querySelector<HTMLMetaElement>('meta[name="airboss-build"]');
    return said?.content ?? null;
  },
  get storage() {
    return sessionStorage;
  },
};

/** Whether to reload for what the server has: once for each build, so that a page that stays old
 *  (from a cache, or of another server behind the same address) does not reload for ever. */
export function shouldReload(build: string, page: Visit): boolean {
  if (page.own === null || page.own === build) return false;
  try {
    const done = (page.storage.getItem(DONE) ?? "").split(" ");
    if (done.includes(build)) return false;
    page.storage.setItem(DONE, [...done, build].join(" ").trim());
    return true;
  } catch {
    return false; // a browser that remembers nothing could not tell the first time from the next
  }
}

export function reloadIfOld(build: string): void {
  if (shouldReload(build, visit)) reloadWhenIdle();
}

/** Reasons of a page to stay as it is for now. */
export const busy = new Set<() => boolean>();

/** Not under the hands of somebody who writes. */
function reloadWhenIdle(): void {
  const field = document.activeElement;
  const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  const isBusy = [...busy].some((is) => is());
  if (isBusy || (isField && field.value !== "")) setTimeout(reloadWhenIdle, LOOK_MS);
  else location.reload();
}
