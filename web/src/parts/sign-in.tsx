/** A server that wants a person to sign in: the way there, and the way on without it. */

import { useState } from "preact/hooks";
import { post, remove, whyNot } from "../api/client";
import type { BegunSignIn, SignInAsked } from "../api/types.gen";
import { visible } from "../words";
import { Decide, isOpen, type Part } from "./approval";
import { useCardKeys } from "./card-keys";

/** The server asks others before it answers. */
const PATIENCE_MS = 40_000;

export const signInPath = (session: string, server: string): string =>
  `/api/v1/sessions/${encodeURIComponent(session)}/mcp-servers/${encodeURIComponent(server)}/sign-in`;

/** Leaves for where people sign in; why not, where that is not possible. */
async function leave(session: string, server: string): Promise<string | null> {
  const answer = await post<BegunSignIn>(signInPath(session, server), {}, {}, PATIENCE_MS);
  if (answer.kind !== "ok") return whyNot(answer);
  if (!/^https?:\/\//.test(answer.body.url)) return "The server gave an address that is not valid.";
  window.location.assign(answer.body.url);
  return null;
}

function useLeaving(session: string, server: string) {
  const [leaving, go] = useState(false);
  const [why, tell] = useState<string | null>(null);
  const start = () => {
    if (leaving) return;
    go(true);
    tell(null);
    void leave(session, server).then((trouble) => {
      tell(trouble);
      if (trouble !== null) go(false);
    });
  };
  return { leaving, why, start, tell };
}

function Trouble({ why }: { why: string | null }) {
  return why === null ? null : (
    <p class="trouble small" role="alert">
      {visible(why)}
    </p>
  );
}

export function SignIn({ asked, item, stand, say, card, children }: Part<SignInAsked>) {
  const { leaving, why, start } = useLeaving(item.session, asked.server);
  const open = isOpen(stand) && !leaving;
  const decline = () => void say("decline", {});
  useCardKeys(card, open, (key) => {
    if (key === "a") start();
    else if (key === "d") decline();
    else return false;
    return true;
  });
  return (
    <>
      <p>
        The MCP server {visible(asked.server)} at <code>{visible(asked.address)}</code> wants to
        know who you are. You sign in on its own page and come back here. All sessions that use this
        server then work with your sign-in. Without it, the agent continues without the server’s
        tools.
      </p>
      {children}
      <div class="acts">
        <Decide class="btn you" disabled={!open} onClick={start}>
          {leaving ? "Opening…" : "Sign in"} <kbd aria-hidden="true">A</kbd>
        </Decide>
        <Decide disabled={!open} onClick={decline}>
          Continue without it <kbd aria-hidden="true">D</kbd>
        </Decide>
      </div>
      <Trouble why={why} />
    </>
  );
}

type ServerProps = { session: string; server: string; wanted: boolean; who: string | null };

/** In the panel of a session: sign in, or out. */
export function ServerSignIn({ session, server, wanted, who }: ServerProps) {
  const { leaving, why, start, tell } = useLeaving(session, server);
  const [gone, leaveIt] = useState(false);
  const signOut = () =>
    void remove(signInPath(session, server)).then((answer) => {
      if (answer.kind === "ok") leaveIt(true);
      else tell(whyNot(answer));
    });
  const signedIn = who !== null && !gone;
  return (
    <div class="row wrap">
      {signedIn && !wanted && <span class="muted">Signed in by {visible(who)}</span>}
      {wanted && (
        <Decide class="btn sm" disabled={leaving} onClick={start}>
          {leaving ? "Opening…" : "Sign in"}
        </Decide>
      )}
      {signedIn && (
        <Decide class="btn sm" onClick={signOut}>
          Sign out
        </Decide>
      )}
      <Trouble why={why} />
    </div>
  );
}
