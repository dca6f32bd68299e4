/** The one-time code of a printed address: out of the address first, then exchanged for a cookie. */

import { type Answer, post } from "./api/client";

export function codeIn(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("code") || null;
}

/** Takes the code out of the address bar and of the history, before anything else can fail. */
export function takeCode(): string | null {
  const code = codeIn(location.hash);
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

export const signIn = (code: string): Promise<Answer> => post("/api/v1/signin", { code });
