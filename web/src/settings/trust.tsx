/** Files and folders that somebody trusts: whose entries may run, and may widen the policy. */

import { useState } from "preact/hooks";
import { post, remove } from "../api/client";
import type { TrustedPath } from "../api/types.gen";
import { now } from "../live/feed";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { fully, visible, when } from "../words";
import { useKept } from "./kept";

export function Trust() {
  const { items: paths, trouble, change } = useKept<TrustedPath>("/api/v1/trust");
  const [path, write] = useState("");

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
