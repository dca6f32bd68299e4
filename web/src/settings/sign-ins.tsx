/** Browsers that are signed in, each with a way to end that. */

import { useState } from "preact/hooks";
import { remove, whyNot } from "../api/client";
import type { ListedSignIn } from "../api/types.gen";
import { now } from "../live/feed";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { signOut } from "../signin";
import { fully, visible, when } from "../words";
import { useKept } from "./kept";

const ADDRESS = "/api/v1/signins";

export function SignIns() {
  const { items, trouble, change } = useKept<ListedSignIn>(ADDRESS, "access");
  const [stays, tell] = useState<string | null>(null);
  if (items === null || items.length === 0) return null;

  const end = async (one: ListedSignIn) => {
    const yes = await confirmed({
      title: "Sign out this browser?",
      body: `${described(one)} is signed out immediately. To sign it in again, open a new link from \`airboss link\`.`,
      action: "Sign out",
      keep: "Cancel",
    });
    if (yes) await change(remove(`${ADDRESS}/${one.id}`));
  };

  const endOthers = async () => {
    const yes = await confirmed({
      title: "Sign out all other browsers?",
      body: "All other browsers in this list are signed out immediately. This one stays signed in.",
      action: "Sign out all",
      keep: "Cancel",
    });
    if (yes) await change(remove(`${ADDRESS}?others=true`));
  };

  const leave = async () => {
    const answer = await signOut();
    if (answer.kind === "ok") location.reload();
    else tell(whyNot(answer));
  };

  const why = stays ?? trouble;
  return (
    <>
      <div class="pad row wrap">
        <h3 id="sign-ins-title" class="grow">
          Signed-in browsers
        </h3>
        {items.some((one) => !one.this) && (
          <button type="button" class="btn sm" onClick={() => void endOthers()}>
            Sign out all others
          </button>
        )}
        {items.some((one) => one.this) && (
          <button type="button" class="btn sm" onClick={() => void leave()}>
            Sign out
          </button>
        )}
        <p class={why === null ? "vh" : "trouble"} role="status">
          {why !== null && visible(why)}
        </p>
      </div>
      <table class="tbl rules" aria-labelledby="sign-ins-title">
        <tbody>
          {items.map((one) => (
            <tr key={one.id}>
              <td>
                {visible(one.device)}
                {one.this && <span class="small muted"> · this browser</span>}
                <div class="small muted">
                  {visible(one.name)}, from {visible(one.address)}
                </div>
              </td>
              <td class="muted opt" title={`${fully(one.since)} to ${fully(one.until)}`}>
                {when(one.since, now.value)} until {when(one.until, now.value)}
              </td>
              <td class="muted" title={fully(one.used_at)}>
                last used {when(one.used_at, now.value)}
              </td>
              <td class="right">
                {!one.this && (
                  <button
                    type="button"
                    class="btn ghost sm icon"
                    aria-label={`Sign out: ${described(one)}`}
                    onClick={() => void end(one)}
                  >
                    <Icon name="trash" size="s" />
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const described = (one: ListedSignIn) => `${visible(one.device)}, ${visible(one.name)}`;
