/** Rules of one's own: in the order in which they hold. */

import { useId, useState } from "preact/hooks";
import { post, put, remove } from "../api/client";
import { barred, mayNot } from "../api/role";
import type { KeptRule, Rule } from "../api/types.gen";
import { now } from "../live/feed";
import { ruleInWords } from "../parts/asking";
import { Barred } from "../parts/barred";
import { confirmed } from "../parts/dialog";
import { Icon, type IconName } from "../parts/icon";
import { fully, visible, when } from "../words";
import { useKept } from "./kept";
import {
  type Draft,
  moved,
  NAMED,
  NEW_DRAFT,
  patternOf,
  REQUESTS,
  type RequestName,
  ruleOf,
} from "./requests";

const VERDICTS: Record<Rule["verdict"], IconName> = {
  allow: "tick",
  deny: "slashed",
  ask: "question",
};

export function Rules() {
  const { items: rules, trouble, change } = useKept<KeptRule>("/api/v1/rules", "everything");
  const [adding, add] = useState(false);

  const move = (id: string, step: 1 | -1) => {
    const ids = moved(
      (rules ?? []).map((rule) => rule.id),
      id,
      step,
    );
    void change(put("/api/v1/rules/order", { ids }));
  };
  const drop = async ({ id, rule }: KeptRule) => {
    const yes = await confirmed({
      title: "Remove this rule?",
      body: (
        <>
          <code>{ruleInWords(rule)}</code> stops applying immediately, also in open sessions.
        </>
      ),
      action: "Remove",
      keep: "Cancel",
    });
    if (yes) await change(remove(`/api/v1/rules/${id}`));
  };

  return (
    <section class="panel" id="rules" aria-labelledby="rules-title" aria-busy={rules === null}>
      <header>
        <h2 id="rules-title">Rules</h2>
        <span class="small muted">The first match applies</span>
        <span class="grow" />
        <button
          type="button"
          class="btn sm"
          aria-expanded={adding}
          {...barred("own")}
          onClick={() => add(!adding)}
        >
          <Icon name="plus" size="s" />
          Add a rule
        </button>
      </header>
      {adding && (
        <Adding
          onAdd={async (draft) => {
            const body = { rule: ruleOf(draft), ...(draft.first && { place: 0 }) };
            if (await change(post("/api/v1/rules", body))) add(false);
          }}
        />
      )}
      <p class={trouble === null ? "vh" : "pad trouble"} role="status">
        {trouble !== null && visible(trouble)}
      </p>
      {mayNot("own") !== null && (
        <div class="pad">
          <Barred needs="own" />
        </div>
      )}
      {rules?.length === 0 && (
        <div class="empty">
          <p>
            No rules yet. Without rules, the policy decides. To add one, choose “Add a rule”, or
            “Always allow” on a permission request.
          </p>
        </div>
      )}
      {rules !== null && rules.length > 0 && (
        <table class="tbl rules">
          <thead>
            <tr>
              <th>
                <span class="vh">Move</span>
              </th>
              <th>Kind</th>
              <th>Pattern</th>
              <th>Decision</th>
              <th>Source</th>
              <th>
                <span class="vh">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rules.map((kept, place) => (
              <Row
                key={kept.id}
                kept={kept}
                first={place === 0}
                last={place === rules.length - 1}
                onMove={(step) => move(kept.id, step)}
                onRemove={() => void drop(kept)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

type RowProps = {
  kept: KeptRule;
  first: boolean;
  last: boolean;
  onMove: (step: 1 | -1) => void;
  onRemove: () => void;
};

function Row({ kept: { rule, who, made_at }, first, last, onMove, onRemove }: RowProps) {
  const told = ruleInWords(rule);
  return (
    <tr>
      <td class="move">
        <button
          type="button"
          class="btn ghost sm icon"
          aria-label={`Move up: ${told}`}
          disabled={first}
          {...barred("own")}
          onClick={() => onMove(-1)}
        >
          <Icon name="up" size="s" />
        </button>
        <button
          type="button"
          class="btn ghost sm icon"
          aria-label={`Move down: ${told}`}
          disabled={last}
          {...barred("own")}
          onClick={() => onMove(1)}
        >
          <Icon name="down" size="s" />
        </button>
      </td>
      <td class="opt">{visible(rule.wish ?? "any")}</td>
      <td class="mono">
        {visible(patternOf(rule)) || "*"}
        {rule.folder != null && <span class="faint"> in {visible(rule.folder)}</span>}
      </td>
      <td class="nowrap">
        <Icon name={VERDICTS[rule.verdict]} size="s" /> {rule.verdict}
      </td>
      <td class="muted opt" title={fully(made_at)}>
        {visible(who)}, {when(made_at, now.value)}
      </td>
      <td class="right">
        <button
          type="button"
          class="btn ghost sm icon"
          aria-label={`Remove: ${told}`}
          {...barred("own")}
          onClick={onRemove}
        >
          <Icon name="trash" size="s" />
        </button>
      </td>
    </tr>
  );
}

function Adding({ onAdd }: { onAdd: (draft: Draft) => Promise<void> }) {
  const [draft, write] = useState<Draft>(NEW_DRAFT);
  const id = useId();
  const named = NAMED[REQUESTS[draft.wish]];
  return (
    <form
      class="rule-form"
      aria-label="New rule"
      onSubmit={(event) => {
        event.preventDefault();
        void onAdd(draft);
      }}
    >
      <div class="field">
        <label for={`${id}-v`}>Decision</label>
        <select
          id={`${id}-v`}
          class="select"
          value={draft.verdict}
          onChange={(event) =>
            write({ ...draft, verdict: event.currentTarget.value as Rule["verdict"] })
          }
        >
          {Object.keys(VERDICTS).map((verdict) => (
            <option key={verdict}>{verdict}</option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-w`}>Kind of request</label>
        <select
          id={`${id}-w`}
          class="select"
          value={draft.wish}
          onChange={(event) => write({ ...draft, wish: event.currentTarget.value as RequestName })}
        >
          {Object.keys(REQUESTS).map((wish) => (
            <option key={wish}>{wish}</option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-p`}>{named.label}</label>
        <input
          id={`${id}-p`}
          class="input mono"
          placeholder={named.like}
          value={draft.pattern}
          onInput={(event) => write({ ...draft, pattern: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for={`${id}-f`}>
          Only in folder <span class="faint">(optional)</span>
        </label>
        <input
          id={`${id}-f`}
          class="input mono"
          placeholder="/home/me/work"
          value={draft.folder}
          onInput={(event) => write({ ...draft, folder: event.currentTarget.value })}
        />
      </div>
      <p class="hint wide">
        <code>*</code> matches any characters. A rule that allows must match every command in a
        line. A rule that denies or asks needs to match only one.
      </p>
      <div class="row wrap wide">
        <button type="submit" class="btn primary">
          Add rule
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={draft.first}
            onChange={(event) => write({ ...draft, first: event.currentTarget.checked })}
          />
          Put before all other rules
        </label>
        <span class="small faint">
          Preview: <code>{ruleInWords(ruleOf(draft))}</code>
        </span>
      </div>
    </form>
  );
}
