/** The one-time code of a printed address: out of the address first, then exchanged for a cookie and a key. */

import { type Answer, post, postAside } from "./api/client";
import { forgetKeys, keepKey } from "./api/key";
import type { SignedIn } from "./api/types.gen";

export function codeIn(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("code") || null;
}

/** Takes the code out of the address bar and of the history, before anything else can fail. */
export function takeCode(): string | null {
  const code = codeIn(location.hash);
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

export async function signIn(code: string): Promise<Answer> {
  // Who is told that the page is in asks at once, and needs the key for it.
  const answer = await postAside<SignedIn>("/api/v1/signin", { code });
  if (answer.kind === "ok" && answer.body.key != null) keepKey(answer.body.key);
  return answer;
}

/** Ends this browser's sign-in on the server; its other tabs are out within two seconds. */
export async function signOut(): Promise<Answer> {
  const answer = await post("/api/v1/signout");
  if (answer.kind === "ok") forgetKeys();
  return answer;
}
