/** What somebody trusts: entries that may run and widen the policy, and extensions. */

import { useState } from "preact/hooks";
import { get, post, remove, whyNot } from "../api/client";
import { barred } from "../api/role";
import type { FileToTrust, TrustedPath, TrustLook } from "../api/types.gen";
import { now } from "../live/feed";
import { Barred } from "../parts/barred";
import { confirmed } from "../parts/dialog";
import { Fold } from "../parts/fold";
import { Icon } from "../parts/icon";
import { fully, visible, when } from "../words";
import { useKept } from "./kept";

export function Trust() {
  const { items: paths, trouble, change, tell } = useKept<TrustedPath>("/api/v1/trust", "settings");
  const [path, write] = useState("");

  /** What is trusted is what was shown: the server refuses anything else. */
  const add = async () => {
    const wanted = path.trim();
    const seen = await get<TrustLook>(
      `/api/v1/trust/look?${new URLSearchParams({ path: wanted })}`,
    );
    if (seen.kind !== "ok") {
      tell(whyNot(seen));
      return;
    }
    const yes = await confirmed({
      title: "Trust this version?",
      body: <Reviewed look={seen.body} />,
      action: "Trust",
      danger: false,
      wide: true,
    });
    if (!yes) return;
    const trusting = post("/api/v1/trust", { path: wanted, digest: seen.body.digest });
    if (await change(trusting)) write("");
  };

  const drop = async (trusted: string) => {
    const yes = await confirmed({
      title: "Stop trusting this?",
      body: (
        <>
          <code>{visible(trusted)}</code> is no longer trusted. What a Python entry there provides
          stops being used immediately; an extension no longer starts.
        </>
      ),
      action: "Stop trusting",
      keep: "Cancel",
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
          A Python entry or an extension runs only if you trust it. The same goes for permissions
          that an entry asks for beyond the policy. Trust ends when the file changes; of an
          extension, the trusted version goes on.
        </p>
        <form
          class="row wrap"
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <input
            class="input mono grow"
            aria-label="File or folder to trust"
            placeholder="/home/me/work/shop/airboss.yaml"
            value={path}
            {...barred("own")}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <button type="submit" class="btn" disabled={path.trim() === ""} {...barred("own")}>
            Review
          </button>
        </form>
        <Barred needs="own" />
        <p class={trouble === null ? "vh" : "trouble"} role="status">
          {trouble !== null && visible(trouble)}
        </p>
        {paths?.length === 0 && <p class="muted">No trusted files or folders yet.</p>}
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
                      Changed
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
                    aria-label={`Stop trusting ${visible(one.path)}`}
                    {...barred("own")}
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

/** Of an extension alone its files are those of the look. */
function Reviewed({ look }: { look: TrustLook }) {
  const extensions = look.kind === "extension" ? [] : look.extensions;
  return (
    <>
      {look.files.map((file) => (
        <Shown key={file.path} file={file} />
      ))}
      {extensions.map((one) => (
        <section key={one.path} class="stack-3">
          <h3>Extension {visible(one.name)}</h3>
          {one.reason !== "" && <p class="trouble">Not trusted with it. {visible(one.reason)}</p>}
          {one.files.map((file) => (
            <Shown key={file.path} file={file} />
          ))}
        </section>
      ))}
    </>
  );
}

function Shown({ file }: { file: FileToTrust }) {
  return (
    <section class="stack-3">
      <h3 class="mono">{visible(file.path)}</h3>
      {file.text == null ? (
        <p class="trouble">
          Too long to show ({file.bytes.toLocaleString("en")} bytes). Read the file itself before
          you trust it.
        </p>
      ) : (
        <Fold text={file.text} lines={30} label={`Content of ${visible(file.path)}`} />
      )}
      <p class="muted">
        SHA-256 <code>{file.digest}</code>
      </p>
    </section>
  );
}
