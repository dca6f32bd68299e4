/** Which job is selected, and what was written for it. The first is in the address, the rest on this device. */

import { useEffect, useState } from "preact/hooks";
import { remember, remembered } from "../storage";

const inAddress = () => new URLSearchParams(location.hash.slice(1)).get("job");

/** Chosen again, it is chosen no more. */
export function useChoice(): [string | null, (job: string) => void] {
  const [job, setJob] = useState(inAddress);
  useEffect(() => {
    const again = () => setJob(inAddress());
    addEventListener("hashchange", again);
    return () => removeEventListener("hashchange", again);
  }, []);
  const toggle = (next: string) => {
    const chosen = next === job ? null : next;
    const fragment = chosen === null ? "" : `#${new URLSearchParams({ job: chosen })}`;
    history.replaceState(null, "", `${location.pathname}${location.search}${fragment}`);
    setJob(chosen);
  };
  return [job, toggle];
}

const place = (folder: string, job: string) => `draft.job.${folder}.${job}`;

/** Kept until it was used: a page that is reloaded has lost nothing. */
export function useDraft(folder: string, job: string | null): [string, (text: string) => void] {
  const [written, setWritten] = useState<Record<string, string>>({});
  if (job === null) return ["", () => {}];
  const write = (text: string) => {
    remember(place(folder, job), text === "" ? null : text);
    setWritten((before) => ({ ...before, [job]: text }));
  };
  return [written[job] ?? remembered(place(folder, job)) ?? "", write];
}
