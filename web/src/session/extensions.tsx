/** The extensions of an open session: how each stands, what it brings, and its last error. */

import { useEffect, useState } from "preact/hooks";
import { getAside, post, whyNot } from "../api/client";
import { barred } from "../api/role";
import type { LiveExtension, LiveExtensions } from "../api/types.gen";
import { Icon } from "../parts/icon";
import { visible } from "../words";

type Props = {
  session: string;
  /** In which it works. */
  folder: string;
  /** Whether it can have any. */
  isOpen: boolean;
  /** Changes with its turns, in which extensions start, fail and are reloaded. */
  turns: number;
};

const LOOKS: Record<string, string> = {
  running: "st ok",
  starting: "st waiting",
  restarting: "st waiting",
  ready: "st waiting",
  untrusted: "st waiting",
  changed: "st waiting",
  failed: "st failed",
};
const NAMES: Record<string, string> = {
  ready: "not loaded yet",
  untrusted: "not trusted",
  changed: "older version",
};
const RELOAD_MS = 30_000;
/** One may crash while nothing else happens. */
const LOOK_MS = 5_000;

/** One that runs has something to say where its folder has changed. */
const canBeReviewed = ({ state }: LiveExtension): boolean =>
  state === "untrusted" || state === "changed" || state === "running";

export function ExtensionFacts({ session, folder, isOpen, turns }: Props) {
  const [found, setFound] = useState<readonly LiveExtension[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const path = `/api/v1/sessions/${session}/extensions`;
  useEffect(() => {
    if (!isOpen) return undefined;
    let isWanted = true;
    const look = async () => {
      const answer = await getAside<LiveExtensions>(path);
      if (isWanted && answer.kind === "ok") setFound(answer.body.items);
    };
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => {
      isWanted = false;
      clearInterval(timer);
    };
  }, [path, isOpen, turns]);
  if (!isOpen || found.length === 0) return null;
  const reload = async () => {
    setBusy(true);
    const answer = await post<LiveExtensions>(`${path}/reload`, {}, {}, RELOAD_MS);
    setBusy(false);
    setTrouble(answer.kind === "ok" ? null : whyNot(answer));
    if (answer.kind === "ok") setFound(answer.body.items);
  };
  return (
    <section aria-label="Extensions">
      <h2 class="row">
        Extensions <span class="grow" />
        <button
          type="button"
          class="btn ghost sm"
          disabled={isBusy}
          {...barred("operate")}
          onClick={() => void reload()}
        >
          <Icon name="turn" size="s" />
          Reload
        </button>
      </h2>
      <p class={trouble === null ? "vh" : "trouble"} role="status">
        {trouble !== null && visible(trouble)}
      </p>
      <ul class="servers">
        {found.map((one) => (
          <li key={`${one.scope} ${one.name}`}>
            <Chip one={one} folder={folder} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Chip({ one, folder }: { one: LiveExtension; folder: string }) {
  const settings = `settings.html?${new URLSearchParams({ project: folder })}#extensions`;
  return (
    <>
      <strong>{visible(one.name)}</strong>{" "}
      <span class={LOOKS[one.state] ?? "st"}>{NAMES[one.state] ?? one.state}</span>{" "}
      <span class="small muted">{one.scope === "user" ? "yours" : "of the project"}</span>
      {one.reason !== "" && (
        <div class={one.state === "failed" ? "server-error" : "muted"}>
          {visible(one.reason)}
          {canBeReviewed(one) && (
            <>
              {" "}
              <a href={settings}>Review {visible(one.name)}</a>
            </>
          )}
        </div>
      )}
      {one.tools.length > 0 && <div>{visible(one.tools.join(", "))}</div>}
      {one.words !== "" && <div class="small muted">{visible(one.words)}</div>}
    </>
  );
}
