/** The page's part of a sign-in: kept per origin, shared by its tabs, sent with every call. The cookie alone, which
 * reaches every port of the host, lets nobody in. */

import { remember, remembered } from "../storage";

const NAME = "keys";
/** Of the last servers at this address, one after the other: each knows its own. */
const MOST = 4;

/** Where the browser forbids storage, the page has its key until it is left. */
let unsaved = "";

const kept = (): string => remembered(NAME) ?? unsaved;

export function keepKey(key: string): void {
  const others = kept()
    .split(",")
    .filter((other) => other !== "" && other !== key);
  unsaved = [key, ...others].slice(0, MOST).join(",");
  remember(NAME, unsaved);
}

export function forgetKeys(): void {
  unsaved = "";
  remember(NAME, null);
}

/** The headers by which the server knows this page. */
export const ownKey = (): Record<string, string> => {
  const keys = kept();
  return keys === "" ? {} : { "X-Airboss-Key": keys };
};
