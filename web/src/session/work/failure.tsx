/** A model that does not answer: one card for all tries, and what the service said. */

import { createContext } from "preact";
import { useContext, useId, useState } from "preact/hooks";
import { barred } from "../../api/role";
import type { OfferedModel } from "../../api/types.gen";
import { Fold } from "../../parts/fold";
import { Icon } from "../../parts/icon";
import { ASKED_AGAIN, FAILED } from "../../state/notes";
import { clock, fully, span, visible } from "../../words";
import type { Failure } from "./pieces";

/** Of the session that is shown: its model's name, and what asks the same again, where that can be:
 *  here, or of one of the `others` in a new session. */
export type Again = {
  model: string;
  others: readonly Pick<OfferedModel, "id" | "name">[];
  retry: ((text: string) => Promise<void>) | null;
  retryOn: (model: string, text: string) => Promise<void>;
};

export const AskAgain = createContext<Again>({
  model: "The model",
  others: [],
  retry: null,
  retryOn: async () => {},
});

export function FailureCard({ failure }: { failure: Failure }) {
  const { notes, over } = failure;
  const tries = notes.filter(({ title }) => title === ASKED_AGAIN).length;
  const error = notes.find(({ tone, title }) => tone === "error" && title !== FAILED);
  const first = notes[0];
  const last = notes.at(-1);
  if (first === undefined || last === undefined) return null;
  if (error === undefined && last.title !== FAILED) {
    return (
      <p class="tries">
        <Icon name="turn" size="s" />
        {over
          ? `The model answered after ${counted(tries)}.`
          : `The model is not answering. Retrying: ${counted(tries)} so far.`}
        <time class="faint" title={fully(last.at)}>
          {clock(last.at)}
        </time>
      </p>
    );
  }
  const said = error?.text ?? "";
  if (over) return <Past failure={failure} tries={tries} said={said} />;
  return <Failed failure={failure} tries={tries} said={said} />;
}

type Props = { failure: Failure; tries: number; said: string };

/** Something else came behind it: one row, and what was said when it is opened. */
function Past({ failure: { notes }, tries, said }: Props) {
  const { model } = useContext(AskAgain);
  const last = notes.at(-1)?.at ?? 0;
  return (
    <details class="past-fail">
      <summary>
        <Icon name="warning" size="s" />
        {visible(model)} did not answer. Tried {often(tries)}.
        <time class="faint" title={fully(last)}>
          {clock(last)}
        </time>
      </summary>
      <q>{visible(lastError(said))}</q>
      <AllSaid notes={notes} />
    </details>
  );
}

/** `tries` are those behind the first. */
const often = (tries: number): string => (tries === 0 ? "once" : `${tries + 1} times`);

const counted = (tries: number): string => (tries === 1 ? "1 retry" : `${tries} retries`);

function Failed({ failure, tries, said }: Props) {
  const { model, others, retry } = useContext(AskAgain);
  const [picks, pick] = useState(false);
  const [raw, show] = useState(false);
  const [busy, work] = useState(false);
  const { notes, request, worked } = failure;
  const first = notes[0]?.at ?? 0;
  const last = notes.at(-1)?.at ?? first;
  const when = tries === 0 ? "" : ` in ${span(last - first)}`;
  const safe = worked
    ? "The agent has already done something in this turn. Check it before you retry."
    : "The agent has not changed anything in this turn, so it is safe to retry.";
  return (
    <section class="fail" aria-label="The model isn't answering">
      <header>
        <Icon name="warning" />
        <b>{visible(model)} isn't answering</b>
        <span class="grow" />
        <time class="small" title={fully(last)}>
          {clock(last)}
        </time>
      </header>
      <div class="body">
        <p>
          Tried {often(tries)}
          {when}. {safe} The service said:
        </p>
        <q>{visible(lastError(said))}</q>
        <div class="row wrap">
          {retry !== null && request !== null && (
            <button
              type="button"
              class="btn sm primary"
              disabled={busy}
              {...barred("operate")}
              onClick={async () => {
                work(true);
                await retry(request.text);
                work(false);
              }}
            >
              <Icon name="turn" />
              Retry
            </button>
          )}
          {retry !== null && request !== null && others.length > 0 && (
            <button
              type="button"
              class="btn sm"
              data-still
              aria-expanded={picks}
              {...barred("operate")}
              onClick={() => pick(!picks)}
            >
              Retry with another model <Icon name="down" size="s" />
            </button>
          )}
          <button
            type="button"
            class="btn ghost sm"
            data-still
            aria-expanded={raw}
            onClick={() => show(!raw)}
          >
            View Raw Data
          </button>
          {request?.images && retry !== null && (
            <span class="small faint">Images are not sent again.</span>
          )}
        </div>
        {picks && request !== null && <OtherModel text={request.text} />}
        {raw && <AllSaid notes={notes} />}
      </div>
    </section>
  );
}

const AllSaid = ({ notes }: Pick<Failure, "notes">) => (
  <Fold
    text={notes.map(({ at, title, text }) => `${fully(at)} ${title}: ${text}`).join("\n")}
    label="Full error log"
  />
);

/** A session keeps its model, so another one is asked in a session of its own. */
function OtherModel({ text }: { text: string }) {
  const { others, retryOn } = useContext(AskAgain);
  const [chosen, choose] = useState(others[0]?.id ?? "");
  const [busy, work] = useState(false);
  const id = useId();
  return (
    <form
      class="row wrap"
      onSubmit={async (event) => {
        event.preventDefault();
        work(true);
        await retryOn(chosen, text);
        work(false);
      }}
    >
      <label class="small" for={id}>
        Model
      </label>
      <select
        id={id}
        class="select"
        value={chosen}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {others.map((other) => (
          <option key={other.id} value={other.id}>
            {visible(other.name)}
          </option>
        ))}
      </select>
      <button type="submit" class="btn sm" disabled={busy || chosen === ""} {...barred("operate")}>
        Retry in a new session
      </button>
      <span class="small muted">
        A session keeps its model. This starts a new session in the same folder with the same
        message, without the conversation so far.
      </span>
    </form>
  );
}

/** What the service said is behind what the runtime says of it. */
const lastError = (text: string): string => {
  const found = /Last error: ([\s\S]+)$/.exec(text.slice(0, 20_000));
  return (found?.[1] ?? text).slice(0, 600);
};
