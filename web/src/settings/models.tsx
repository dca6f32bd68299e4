/** The models that Copilot, providers of one's own and the rehearsal offer. */

import type { ModelList, OfferedModel, Status } from "../api/types.gen";
import { watchAnswer } from "../live/asked";
import { useWatched } from "../live/use";
import { Icon } from "../parts/icon";
import { Note } from "../parts/note";
import { visible } from "../words";

// The catalog may have to wake the agent runtime first.
const PATIENCE_MS = 40_000;

/** Until a provider or an account is added, changed or removed. */
const watch = (path: string) =>
  watchAnswer<ModelList>(path, {
    apartMs: 0,
    heeds: (names) => names.includes("settings"),
    patienceMs: PATIENCE_MS,
  });

export function Models({ status }: { status: Status | null }) {
  const asked = useWatched("/api/v1/models", watch);
  const list = asked.state.value;
  const trouble = asked.trouble.value;
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
          {list !== null && `${list.items.length} available`}
          {list === null && trouble === null && "Loading models…"}
        </span>
      </header>
      <div class="pad stack-5">
        {status !== null && <Sources status={status} />}
        {[...(list?.problems ?? []), ...(trouble === null ? [] : [trouble])].map((problem) => (
          <Note
            key={problem}
            kind="info"
            title={list === null ? "Could not load the models." : "Some models may be missing."}
          >
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
