/** Who asks: the session, and the run that it works for, with links to both. */

import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { InboxItem, RunDetail, SessionView } from "../api/types.gen";
import { runAddress } from "../start/rows";
import { byTask, visible } from "../words";

export type Origin = { session: SessionView | null; job: string | null };

const known = new Map<string, Promise<Origin>>();

/** Asked for once: a session keeps its folder and its model while it waits. */
export function originOf(item: InboxItem): Promise<Origin> {
  const key = `${item.session} ${item.run}`;
  let asked = known.get(key);
  if (asked === undefined) {
    asked = ask(item);
    known.set(key, asked);
  }
  return asked;
}

async function ask({ session, run }: InboxItem): Promise<Origin> {
  const [view, detail] = await Promise.all([
    get<SessionView>(`/api/v1/sessions/${session}`),
    run == null ? null : get<RunDetail>(`/api/v1/runs/${run}`),
  ]);
  return {
    session: view.kind === "ok" ? view.body : null,
    job: detail?.kind === "ok" ? detail.body.job : null,
  };
}

export function useOrigin(item: InboxItem): Origin | null {
  const [origin, know] = useState<Origin | null>(null);
  useEffect(() => {
    let gone = false;
    void originOf(item).then((found) => gone || know(found));
    return () => {
      gone = true;
    };
  }, [item]);
  return origin;
}

/** The folder and who asks, in a line of a card. `isHere`: the page is that of the session. */
export function AskedBy({ item, isHere }: { item: InboxItem; isHere: boolean }) {
  const origin = useOrigin(item);
  const session = origin?.session ?? null;
  return (
    <p class="small asked-by">
      {session !== null && (
        <span>
          <span class="faint">Folder</span> <code>{visible(session.cwd)}</code>
        </span>
      )}
      <span>
        <span class="faint">Requested by</span>{" "}
        {isHere ? (
          "this session"
        ) : (
          <a href={`/index.html?${new URLSearchParams({ session: item.session })}`}>
            {visible(session?.title ?? "") || "the session"}
          </a>
        )}
        {item.run != null && origin?.job != null && (
          <>
            {", in a run of "}
            <a href={runAddress(origin.job, item.run)}>{visible(origin.job)}</a>
          </>
        )}
        {item.run == null &&
          session?.who != null &&
          isHere &&
          `, started by ${visible(byTask(session.who))}`}
      </span>
    </p>
  );
}
