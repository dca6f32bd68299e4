/** Whether this browser is in, and how it gets in and out. The one-time code of a printed address is taken out of the
 * address first, then exchanged for a cookie and a key. */

import { judged, whyEnded } from "./api/access";
import { type Answer, getAside, post, postAside } from "./api/client";
import { forgetKeys, keepKey } from "./api/key";
import { role } from "./api/role";
import type { SignedIn, SignInState } from "./api/types.gen";
import { knowHosts } from "./parts/own";

export function codeIn(fragment: string): string | null {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("code") || null;
}

/** Takes the code out of the address bar and of the history, before anything else can fail. */
export function takeCode(): string | null {
  const code = codeIn(location.hash);
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Asks what is answered to everybody, so that a browser which is not in is not refused anything. */
export async function askWhetherIn(): Promise<Answer<SignInState>> {
  const answer = await getAside<SignInState>("/api/v1/signin");
  if (answer.kind !== "ok") return answer;
  if (answer.body.signed_in) {
    // Both before the page opens: what it shows depends on them.
    knowHosts(answer.body.hosts ?? []);
    role.value = answer.body.role ?? null;
    judged(200);
  } else judged(401, whyEnded(answer.body));
  return answer;
}

/** Not in place of another name, unless that is wanted: the answer says whether it would be. */
export async function signIn(code: string, replace: boolean): Promise<Answer<SignedIn>> {
  // Who is told that the page is in asks at once, and needs the key for it.
  const answer = await postAside<SignedIn>("/api/v1/signin", { code, replace });
  if (answer.kind === "ok" && answer.body.key != null) keepKey(answer.body.key);
  return answer;
}

/** Ends this browser's sign-in on the server; its other tabs are out within two seconds. */
export async function signOut(): Promise<Answer> {
  const answer = await post("/api/v1/signout");
  if (answer.kind === "ok") forgetKeys();
  return answer;
}
