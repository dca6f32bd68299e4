/** Who did what to this server, from where. It can be read and taken away, and not changed. */

import { useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import { mayNot } from "../api/role";
import type { AuditPage } from "../api/types.gen";
import { now } from "../live/feed";
import { Barred } from "../parts/barred";
import { Icon } from "../parts/icon";
import { useSaving } from "../parts/save";
import { fully, visible, when } from "../words";
import { type Act, actInWords, actorInWords } from "./acts";

const ADDRESS = "/api/v1/audit";
const PAGE = 20;

export function Audit() {
  const may = mayNot("own") === null;
  return (
    <section class="panel" id="audit" aria-labelledby="audit-title">
      <header>
        <h2 id="audit-title">Audit</h2>
        <span class="small muted">Who did what, and from where</span>
      </header>
      {may ? (
        <Acts />
      ) : (
        <div class="pad">
          <Barred needs="own" />
        </div>
      )}
    </section>
  );
}

function Acts() {
  const [acts, know] = useState<readonly Act[]>([]);
  const [cursor, go] = useState<number | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  const { saving, trouble: unsaved, saveAll } = useSaving();

  const read = async (before: number | null) => {
    const from = before === null ? "" : `&cursor=${before}`;
    const answer = await get<AuditPage>(`${ADDRESS}?limit=${PAGE}${from}`);
    if (answer.kind !== "ok") {
      tell(whyNot(answer));
      return;
    }
    const { items, next_cursor } = answer.body;
    know((known) => (before === null ? items : [...known, ...items]));
    go(next_cursor ?? null);
    tell(null);
  };
  useEffect(() => void read(null), []);

  const why = trouble ?? unsaved;
  return (
    <>
      <p class={why === null ? "vh" : "pad trouble"} role="status">
        {why !== null && visible(why)}
      </p>
      <table class="tbl rules" aria-labelledby="audit-title">
        <tbody>
          {acts.map((act) => (
            <tr key={act.seq}>
              <td>
                {visible(actInWords(act))}
                <div class="small muted">{visible(actorInWords(act.event))}</div>
              </td>
              <td class="muted nowrap" title={fully(act.at)}>
                {when(act.at, now.value)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="pad row wrap">
        <button type="button" class="btn sm" onClick={() => void read(null)}>
          Refresh
        </button>
        {cursor !== null && (
          <button type="button" class="btn sm" onClick={() => void read(cursor)}>
            Show older
          </button>
        )}
        <button
          type="button"
          class="btn sm"
          disabled={saving}
          onClick={() => void saveAll([`${ADDRESS}/export`])}
        >
          <Icon name="download" size="s" />
          Download all as JSON Lines
        </button>
      </div>
    </>
  );
}
