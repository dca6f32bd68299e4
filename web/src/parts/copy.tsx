/** Puts a text where people paste from. */

import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icon";

/** Whether it was done. Pages that come over plain HTTP from elsewhere have only the old way. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedTheOldWay(text);
  }
}

function copiedTheOldWay(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "vh";
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

const SHOWN_MS = 2_000;

/** `what` completes its name for those who hear it: “Copy the command”. */
export function CopyButton({ text, what = "" }: { text: string; what?: string }) {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => say(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => say((await copied(text)) ? "Copied" : "Could not copy");
  return (
    <button type="button" class="btn ghost sm copy" onClick={() => void copy()}>
      <Icon name="copy" size="s" />
      <span aria-live="polite">{said ?? "Copy"}</span>
      {what !== "" && <span class="vh">{what}</span>}
    </button>
  );
}
