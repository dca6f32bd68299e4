/** The pages that one goes to from everywhere. */

import { get } from "../api/client";
import type { Status } from "../api/types.gen";
import { remember, remembered } from "../storage";
import type { IconName } from "./icon";

export type PageName = "start" | "jobs" | "history" | "inbox" | "machines" | "settings";

type Page = { name: PageName; word: string; key: string; icon: IconName };

export const PAGES: readonly Page[] = [
  { name: "start", word: "Start", key: "S", icon: "play" },
  { name: "jobs", word: "Jobs", key: "J", icon: "job" },
  { name: "history", word: "History", key: "H", icon: "clock" },
  { name: "inbox", word: "Inbox", key: "I", icon: "inbox" },
  { name: "machines", word: "Machines", key: "M", icon: "machine" },
  { name: "settings", word: "Settings", key: "T", icon: "gear" },
];

/** Jobs belong to a folder: the one that was last used here. */
export function addressOf(name: PageName): string {
  if (name === "start") return "/index.html";
  const folder = name === "jobs" ? remembered("wb") : null;
  const query = folder === null ? "" : `?${new URLSearchParams({ wb: folder })}`;
  return `/${name}.html${query}`;
}

/** The editor of entries: that of the project, or another file, at a line of it. */
export function editAddress(path: string | null = null, line: number | null = null): string {
  const query = path === null ? "" : `?${new URLSearchParams({ path })}`;
  return `/edit.html${query}${line === null ? "" : `#L${line}`}`;
}

export async function goTo(name: PageName): Promise<void> {
  if (name === "jobs" && remembered("wb") === null) {
    const answer = await get<Status>("/api/v1/status");
    if (answer.kind === "ok") remember("wb", answer.body.repo_root);
  }
  location.assign(addressOf(name));
}
