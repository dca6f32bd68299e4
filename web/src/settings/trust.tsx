/** Files and folders that somebody trusts: whose entries may run, and may widen the policy. */

import { useEffect, useState } from "preact/hooks";
import { type Answer, get, post, remove, whyNot } from "../api/client";
import type { TrustedPath, TrustList } from "../api/types.gen";
import { now } from "../live/feed";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { fully, visible, when } from "../words";

export function Trust() {
  const [paths, know] = useState<readonly TrustedPath[] | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const [path, write] = useState("");
  const read = async () => {
    const answer = await get<TrustList>("/api/v1/trust");
    if (answer.kind === "ok") know(answer.body.items);
    else tell(whyNot(answer));
  };
  const change = async (changing: Promise<Answer>): Promise<boolean> => {
    const answer = await changing;
    tell(answer.kind === "ok" ? null : whyNot(answer));
    await read();
    return answer.kind === "ok";
  };
  // once, when the page is opened
  useEffect(() => void read(), []);

  const drop = async (trusted: string) => {
    const yes = await confirmed({
      title: "Trust this no longer?",
      body: (
        <>
          <code>{visible(trusted)}</code>: what a Python entry there gave is not used any more, at
          once.
        </>
      ),
      action: "Trust no longer",
      keep: "Keep it",
    });
    if (yes) await change(remove(`/api/v1/trust?${new URLSearchParams({ path: trusted })}`));
  };

  return (
    <section class="panel" id="trust" aria-labelledby="trust-title" aria-busy={paths === null}>
      <header>
        <h2 id="trust-title">Trusted files and folders</h2>
      </header>
      <div class="pad stack-5">
        <p class="muted">
          An entry in Python runs, and what an entry asks beyond the policy counts, only where you
          trust its file. Trust ends when the file changes.
        </p>
        <form
          class="row wrap"
          onSubmit={async (event) => {
            event.preventDefault();
            if (await change(post("/api/v1/trust", { path: path.trim() }))) write("");
          }}
        >
          <input
            class="input mono grow"
            aria-label="File or folder to trust"
            placeholder="/home/me/work/shop/airboss.yaml"
            value={path}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <button type="submit" class="btn" disabled={path.trim() === ""}>
            Trust it
          </button>
        </form>
        <p class={trouble === null ? "vh" : "trouble"} role="status">
          {trouble !== null && visible(trouble)}
        </p>
        {paths?.length === 0 && <p class="muted">Nothing is trusted yet.</p>}
      </div>
      {paths !== null && paths.length > 0 && (
        <table class="tbl rules">
          <tbody>
            {paths.map((one) => (
              <tr key={one.path}>
                <td class="mono">{visible(one.path)}</td>
                <td class="nowrap">
                  {one.current ? (
                    one.kind
                  ) : (
                    <span class="st you">
                      <Icon name="hand" />
                      Changed since
                    </span>
                  )}
                </td>
                <td class="muted opt" title={fully(one.at)}>
                  {visible(one.who)}, {when(one.at, now.value)}
                </td>
                <td class="right">
                  <button
                    type="button"
                    class="btn ghost sm icon"
                    aria-label={`Trust no longer: ${visible(one.path)}`}
                    onClick={() => void drop(one.path)}
                  >
                    <Icon name="trash" size="s" />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
