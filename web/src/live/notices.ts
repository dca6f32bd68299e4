/** Notifications of the browser for what comes into the inbox, and the number on the app's icon. */

import { effect, signal } from "@preact/signals";
import type { InboxItem } from "../api/types.gen";
import { titleOf } from "../parts/asking";
import { remember, remembered } from "../storage";
import { inbox, waiting } from "./inbox";

const NAME = "notifications";

export type Notices =
  | "off"
  | "on"
  /** The browser refuses them for this site. */
  | "refused"
  /** This browser has none for pages. */
  | "unknown";

export const notices = signal<Notices>(state());

function state(): Notices {
  if (!("Notification" in window)) return "unknown";
  if (remembered(NAME) !== "on") return "off";
  return Notification.permission === "granted" ? "on" : "refused";
}

/** Only at a person's click: the browser is not asked before. */
export async function turnOn(): Promise<void> {
  await Notification.requestPermission();
  remember(NAME, "on");
  notices.value = state();
}

export function turnOff(): void {
  remember(NAME, null);
  notices.value = state();
}

let begun = false;

/** For as long as the page is there. What waited before it came is no news. */
export function announceInbox(): void {
  if (begun) return;
  begun = true;
  let known: ReadonlySet<string> | null = null;
  const { state: watched, loaded } = inbox();
  effect(() => {
    const { items } = watched.value;
    if (!loaded.value) return;
    const fresh = items.filter(({ id }) => known !== null && !known.has(id));
    known = new Set(items.map(({ id }) => id));
    if (!document.hasFocus()) for (const item of fresh) announce(item);
  });
  effect(() => badge(waiting.value));
}

/** The item's id as its tag: several open pages show it once. */
function announce(item: InboxItem): void {
  if (state() !== "on") return;
  try {
    const notice = new Notification(titleOf(item.asked), {
      body:
        item.asked.kind === "question.asked"
          ? "An agent has a question for you."
          : "Waiting for your decision.",
      tag: item.id,
    });
    notice.onclick = () => {
      window.focus();
      if (!location.pathname.endsWith("/inbox.html")) location.assign("/inbox.html");
      notice.close();
    };
  } catch {
    // Browsers of phones have them only for installed pages: the title counts all the same.
  }
}

function badge(count: number): void {
  const done = count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.();
  done?.catch(() => {}); // Only an installed page has an icon to write on.
}
