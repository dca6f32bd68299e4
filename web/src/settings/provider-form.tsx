/** The form for a provider: where it is, its key, one test, and which of its models people may use. */

import { useId, useState } from "preact/hooks";
import { type Answer, post, whyNot } from "../api/client";
import type { ProviderFacts, TrialResult } from "../api/types.gen";
import { visible } from "../words";
import {
  firstChoice,
  howMany,
  KINDS,
  modelsOf,
  NEW_PROVIDER,
  namesIn,
  needsTick,
  type ProviderDraft,
  type ProviderKind,
  placeOf,
} from "./provider-draft";
import { Trial } from "./trial";

/** A model may have to be loaded first. */
export const TEST_PATIENCE_MS = 70_000;

export const KEPT_IN = {
  keyring: "Kept in this machine’s keyring.",
  file: "Kept in a private file on this machine.",
};

type Props = {
  keptIn: keyof typeof KEPT_IN;
  onAdd: (adding: Promise<Answer<ProviderFacts>>) => Promise<boolean>;
  onLeave: () => void;
};

export function ProviderForm({ keptIn, onAdd, onLeave }: Props) {
  const id = useId();
  const [draft, write] = useState<ProviderDraft>(NEW_PROVIDER);
  const [result, know] = useState<TrialResult | null>(null);
  const [chosen, choose] = useState<Set<string>>(new Set());
  const [busy, work] = useState(false);
  const [trouble, tell] = useState<string | null>(null);
  const name = draft.name.trim();
  const named = namesIn(draft.named);
  const all = new Set([...chosen, ...named]);
  const put = (part: Partial<ProviderDraft>) => {
    write({ ...draft, ...part });
    // Another place, or another key: what was tested is not what would be added.
    if (Object.keys(part).some((one) => one !== "name" && one !== "named")) know(null);
  };

  const test = async () => {
    work(true);
    tell(null);
    const asked = { ...placeOf(draft), ...(named[0] !== undefined && { model: named[0] }) };
    const answer = await post<TrialResult>("/api/v1/provider-tests", asked, {}, TEST_PATIENCE_MS);
    work(false);
    if (answer.kind !== "ok") {
      know(null);
      tell(whyNot(answer));
      return;
    }
    know(answer.body);
    if (answer.body.ok) choose(firstChoice(answer.body, [...all]));
  };

  const add = async () => {
    work(true);
    const body = { ...placeOf(draft), name, models: modelsOf(result?.models ?? [], all) };
    const done = await onAdd(post("/api/v1/providers", body));
    work(false);
    if (done) onLeave();
  };

  const passed = result?.ok === true;
  return (
    <form
      class="source-form"
      id="add-provider"
      aria-label="Add a provider"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void (passed && all.size > 0 ? add() : test());
      }}
    >
      <h3>Add a provider</h3>
      <div class="fgrid">
        <div class="field wide">
          <span class="label" id={`${id}-kind`}>
            Kind
          </span>
          <span class="seg" role="group" aria-labelledby={`${id}-kind`}>
            {(Object.keys(KINDS) as ProviderKind[]).map((kind) => (
              <button
                key={kind}
                type="button"
                aria-pressed={draft.kind === kind}
                onClick={() => put({ kind })}
              >
                {KINDS[kind].word}
              </button>
            ))}
          </span>
        </div>
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            class="input"
            required
            placeholder="lab"
            value={draft.name}
            onInput={(event) => put({ name: event.currentTarget.value })}
          />
          <p class="hint">
            Models are called <code class="mono">{visible(name) || "lab"}/…</code> in entries.
          </p>
        </div>
        <div class="field">
          <label for={`${id}-url`}>Address</label>
          <input
            id={`${id}-url`}
            class="input mono"
            required
            inputMode="url"
            placeholder={KINDS[draft.kind].like}
            value={draft.address}
            onInput={(event) => put({ address: event.currentTarget.value })}
          />
          <p class="hint">
            <label class="check">
              <input
                type="checkbox"
                checked={draft.ours}
                onChange={(event) => put({ ours: event.currentTarget.checked })}
              />
              It is on our own network
              {needsTick(draft.address) && ", without TLS: others on it can read the key"}
            </label>
          </p>
        </div>
        <div class="field">
          <label for={`${id}-key`}>Key</label>
          <input
            id={`${id}-key`}
            class="input mono"
            type="password"
            autocomplete="off"
            value={draft.key}
            onInput={(event) => put({ key: event.currentTarget.value })}
          />
          <p class="hint">{KEPT_IN[keptIn]} Leave it empty if none is needed.</p>
        </div>
        {draft.kind !== "anthropic" && (
          <div class="field">
            <label for={`${id}-wire`}>API</label>
            <select
              id={`${id}-wire`}
              class="select"
              value={draft.wire}
              onChange={(event) =>
                put({ wire: event.currentTarget.value as ProviderDraft["wire"] })
              }
            >
              <option value="completions">Chat completions</option>
              <option value="responses">Responses</option>
            </select>
          </div>
        )}
        {draft.kind === "azure" && (
          <div class="field">
            <label for={`${id}-version`}>
              API version <span class="faint">(optional)</span>
            </label>
            <input
              id={`${id}-version`}
              class="input mono"
              placeholder="2025-04-01-preview"
              value={draft.version}
              onInput={(event) => put({ version: event.currentTarget.value })}
            />
          </div>
        )}
        <div class="field">
          <label for={`${id}-models`}>
            {draft.kind === "azure" ? "Deployments" : "Models"}{" "}
            <span class="faint">(if it has no list)</span>
          </label>
          <input
            id={`${id}-models`}
            class="input mono"
            placeholder="model-a, model-b"
            value={draft.named}
            onInput={(event) => put({ named: event.currentTarget.value })}
          />
        </div>
      </div>
      <div role="status">
        {busy && <p class="small muted">Asking {visible(draft.address) || "the provider"}…</p>}
        {trouble !== null && <p class="trouble">{visible(trouble)}</p>}
        {!busy && result !== null && (
          <Trial name={name || "The provider"} result={result} chosen={chosen} onChoose={choose} />
        )}
      </div>
      <div class="acts">
        {passed ? (
          <>
            <button type="submit" class="btn primary" disabled={busy || all.size === 0}>
              Add {visible(name)} with {howMany(all.size)}
            </button>
            <button type="button" class="btn" disabled={busy} onClick={() => void test()}>
              Test again
            </button>
          </>
        ) : (
          <>
            <button type="submit" class="btn primary" disabled={busy}>
              {result === null ? "Test" : "Test again"}
            </button>
            {named.length > 0 && name !== "" && (
              <button type="button" class="btn" disabled={busy} onClick={() => void add()}>
                Add without a test
              </button>
            )}
          </>
        )}
        <button type="button" class="btn ghost" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </form>
  );
}
