/** Files of the server, saved by the browser: fetched first, since a link would go without the page's key. */

import { useState } from "preact/hooks";
import { file, whyNot } from "../api/client";

/** Saves it; why it could not, or null. */
export async function save(path: string): Promise<string | null> {
  const answer = await file(path);
  if (answer.kind !== "ok") return whyNot(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(answer.body.blob);
  link.download = answer.body.name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return null;
}

export function useSaving() {
  const [saving, begin] = useState(false);
  const [trouble, tell] = useState<string | null>(null);
  /** One after the other; whether all of them were saved. */
  const saveAll = async (paths: readonly string[]): Promise<boolean> => {
    begin(true);
    tell(null);
    let why: string | null = null;
    for (const path of paths) why = (await save(path)) ?? why;
    begin(false);
    tell(why);
    return why === null;
  };
  return { saving, trouble, saveAll };
}
