/** Providers of one's own: how each is, and all that can be done about it without a restart. */

import { useState } from "preact/hooks";
import { type Answer, post, put, remove } from "../api/client";
import { barred } from "../api/role";
import type { ProviderFacts, ProviderList, TrialResult } from "../api/types.gen";
import { Barred } from "../parts/barred";
import { confirmed } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { clock, fully, instant, visible } from "../words";
import { useKept } from "./kept";
import { NewSecret } from "./new-secret";
import { firstChoice, hostOf, howMany, KINDS, modelsOf } from "./provider-draft";
import { ProviderForm, TEST_PATIENCE_MS } from "./provider-form";
import { Trial } from "./trial";

const PATH = "/api/v1/providers";
const SHOWN = 6;

type Acts = { change: (changing: Promise<Answer>) => Promise<boolean> };

export function Providers() {
  const { items, body, trouble, change } = useKept<ProviderFacts, ProviderList>(PATH, "everything");
  const [adding, add] = useState(location.hash === "#add-provider");
  const mine = items?.length ?? 0;
  return (
    <section
      class="panel"
      id="providers"
      aria-labelledby="providers-title"
      aria-busy={items === null}
    >
      <header>
        <h2 id="providers-title">Providers</h2>
        <span class="small muted">
          {mine === 0 ? "You have not added any" : `${mine} of your own`}
        </span>
        <span class="grow" />
        {!adding && (
          <button type="button" class="btn sm" {...barred("own")} onClick={() => add(true)}>
            <Icon name="plus" size="s" />
            Add a provider
          </button>
        )}
      </header>
      <Barred needs="own" />
      <p class={trouble === null ? "vh" : "trouble pad"} role="status">
        {trouble !== null && visible(trouble)}
      </p>
      {items !== null && mine > 0 && (
        <ul class="acc">
          {items.map((one) => (
            <Row key={one.name} provider={one} change={change} />
          ))}
        </ul>
      )}
      {items?.length === 0 && !adding && (
        <p class="pad muted">
          A provider is any service that speaks the API of OpenAI, Azure or Anthropic: a company’s
          gateway, or Ollama, vLLM or llama.cpp on this machine.
        </p>
      )}
      {adding && (
        <ProviderForm
          keptIn={body?.new_keys_in ?? "file"}
          onAdd={change}
          onLeave={() => add(false)}
        />
      )}
    </section>
  );
}

function Row({ provider, change }: { provider: ProviderFacts } & Acts) {
  const [open, look] = useState<"key" | null>(null);
  const [result, know] = useState<TrialResult | null>(null);
  const [chosen, choose] = useState<Set<string>>(new Set());
  const [busy, work] = useState(false);
  const { name, models, source } = provider;
  const path = `${PATH}/${encodeURIComponent(name)}`;
  const ours = source === "added";

  const test = async () => {
    work(true);
    const asking = post<TrialResult>(`${path}/test`, {}, {}, TEST_PATIENCE_MS);
    await change(asking);
    const answer = await asking;
    work(false);
    if (answer.kind !== "ok") return;
    know(answer.body);
    choose(
      firstChoice(
        answer.body,
        models.map(({ id }) => id),
      ),
    );
  };
  const save = async (part: object) => change(put(path, { ...bodyOf(provider), ...part }));
  const drop = async () => {
    const yes = await confirmed({
      title: `Remove the provider ${visible(name)}?`,
      body: (
        <>
          Its key is deleted from this machine, and its models can no longer be selected.
          {provider.sessions > 0 &&
            ` ${openSessions(provider.sessions)} on it and will fail at the next request.`}
        </>
      ),
      action: "Remove",
    });
    if (yes) await change(remove(path));
  };
  const isFailing = provider.state === "failing";
  return (
    <li>
      <State provider={provider} />
      <div>
        <span class="b">{visible(name)}</span>
        <small>
          {KINDS[provider.type].word} · {visible(hostOf(provider.base_url))} ·{" "}
          <Key provider={provider} />
          {!isFailing && provider.first_word_ms != null && (
            <> · first word in {instant(provider.first_word_ms)}</>
          )}
          {provider.sessions > 0 && <> · {openSessions(provider.sessions)}</>}
        </small>
        {isFailing && (
          <small class="trouble">
            {visible(provider.cause ?? "")}
            {provider.since != null && (
              <span title={fully(provider.since)}> Since {clock(provider.since)}.</span>
            )}
          </small>
        )}
        <div class="mods">
          {models.slice(0, SHOWN).map((model) => (
            <span key={model.id} class="mod">
              {visible(model.id)}
            </span>
          ))}
          {models.length > SHOWN && <span class="mod">+{models.length - SHOWN}</span>}
        </div>
        {!ours && <small class="faint">From settings.toml, where it is changed.</small>}
        {open === "key" && (
          <NewSecret
            what="key"
            name={name}
            onSave={async (key) => {
              if (await save({ key })) {
                look(null);
                await test();
              }
            }}
            onLeave={() => look(null)}
          />
        )}
        <div role="status">
          {busy && <small>Asking {visible(name)}…</small>}
          {!busy && result !== null && (
            <Trial name={name} result={result} chosen={chosen} onChoose={choose} />
          )}
        </div>
        {!busy && result?.ok === true && (
          <div class="acts">
            {ours && (
              <button
                type="button"
                class="btn primary sm"
                disabled={chosen.size === 0}
                onClick={async () => {
                  if (await save({ models: modelsOf(result.models ?? [], chosen) })) know(null);
                }}
              >
                Use {howMany(chosen.size)}
              </button>
            )}
            <button type="button" class="btn ghost sm" onClick={() => know(null)}>
              Close
            </button>
          </div>
        )}
      </div>
      <span class="row">
        {ours && (
          <button
            type="button"
            class={isFailing ? "btn sm" : "btn ghost sm"}
            aria-label={`Change the key of ${visible(name)}`}
            {...barred("own")}
            onClick={() => look("key")}
          >
            Change the key
          </button>
        )}
        <button
          type="button"
          class="btn ghost sm"
          aria-label={`Test ${visible(name)}`}
          disabled={busy}
          {...barred("own")}
          onClick={() => void test()}
        >
          Test
        </button>
        {ours && (
          <button
            type="button"
            class="btn ghost sm icon"
            aria-label={`Remove ${visible(name)}`}
            {...barred("own")}
            onClick={() => void drop()}
          >
            <Icon name="trash" size="s" />
          </button>
        )}
      </span>
    </li>
  );
}

function State({ provider: { state, key } }: { provider: ProviderFacts }) {
  if (key === "missing")
    return (
      <span class="st failed">
        <Icon name="cross" />
        No key
      </span>
    );
  if (state === "failing")
    return (
      <span class="st failed">
        <Icon name="cross" />
        Failing
      </span>
    );
  return (
    <span class={state === "fine" ? "st ok" : "st"}>
      <Icon name={state === "fine" ? "tick" : "circle"} />
      {state === "fine" ? "Fine" : "Not used yet"}
    </span>
  );
}

function Key({ provider: { key, key_variable, key_place } }: { provider: ProviderFacts }) {
  if (key_variable != null)
    return (
      <>
        key from <code class="mono">{visible(key_variable)}</code>
      </>
    );
  if (key === "none") return <>no key</>;
  if (key === "missing") return <>its key cannot be read: enter it again</>;
  return <>{key_place === "keyring" ? "key in the system keyring" : "key in a private file"}</>;
}

/** All of it that can be changed, as it is. */
function bodyOf(provider: ProviderFacts) {
  const { type, wire, base_url, auth, headers, api_version, models } = provider;
  return {
    ...{ type, base_url, auth, headers, models, private: provider.private },
    ...(wire != null && { wire }),
    ...(api_version != null && { api_version }),
  };
}

const openSessions = (count: number): string =>
  count === 1 ? "1 session is open" : `${count} sessions are open`;
