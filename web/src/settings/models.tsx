/** The models that Copilot, providers of one's own and the rehearsal offer. */

import { useEffect, useState } from "preact/hooks";
import { get, whyNot } from "../api/client";
import type { ModelList, OfferedModel, Status } from "../api/types.gen";
import { onChange } from "../live/feed";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";

// The catalog may have to wake the agent runtime first.
const PATIENCE_MS = 40_000;

export function Models({ status }: { status: Status | null }) {
  const [list, know] = useState<ModelList | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  useEffect(() => {
    const read = () =>
      void get<ModelList>("/api/v1/models", PATIENCE_MS).then((answer) => {
        if (answer.kind === "ok") know(answer.body);
        else tell(whyNot(answer));
      });
    read();
    // A provider was added or removed.
    return onChange((names) => {
      if (names.includes("settings")) read();
    });
  }, []);
  return (
    <section
      class="panel"
      id="models"
      aria-labelledby="models-title"
      aria-busy={list === null && trouble === null}
    >
      <header>
        <h2 id="models-title">Models</h2>
        <span class="small muted">
          {list === null ? "Loading models…" : `${list.items.length} available`}
        </span>
      </header>
      <div class="pad stack-5">
        {status !== null && <Sources status={status} />}
        {[...(list?.problems ?? []), ...(trouble === null ? [] : [trouble])].map((problem) => (
          <Note key={problem} kind="info" title="Some models may be missing.">
            {visible(problem)}
          </Note>
        ))}
        {list !== null && list.items.length > 0 && <Offered models={list.items} />}
      </div>
    </section>
  );
}

function Sources({ status: { copilot, rehearsal } }: { status: Status }) {
  const copilotWords = copilot.signed_in
    ? `signed in${copilot.login == null ? "" : ` as ${visible(copilot.login)}`}`
    : visible(copilot.detail) || "not checked yet";
  return (
    <dl class="facts left">
      <dt>GitHub Copilot</dt>
      <dd>
        {rehearsal.on ? "not used, because this server uses the rehearsal model" : copilotWords}
      </dd>
    </dl>
  );
}

function Offered({ models }: { models: readonly OfferedModel[] }) {
  return (
    <table class="tbl">
      <thead>
        <tr>
          <th>Name</th>
          <th>ID</th>
          <th>Source</th>
          <th class="right">Multiplier</th>
        </tr>
      </thead>
      <tbody>
        {models.map((model) => (
          <tr key={model.id}>
            <td>{visible(model.name)}</td>
            <td class="mono">{visible(model.id)}</td>
            <td class="muted">
              <Icon name={model.source === "rehearsal" ? "play" : "terminal"} size="s" />{" "}
              {visible(model.source)}
            </td>
            <td class="right num">{model.multiplier}×</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
