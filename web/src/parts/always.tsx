/** What “always allow” means: each way with the rule that it writes, and something else that it allows. */

import type { AlwaysOption, ApprovalAsked, Rule } from "../api/types.gen";
import { visible, visibleWhole } from "../words";
import { Decide } from "./approval";
import { ruleInWords } from "./asking";

/** The narrowest first. Where an earlier version wrote none, the rule itself is the only one. */
export function optionsOf({ options, rule }: ApprovalAsked): readonly AlwaysOption[] {
  if (options != null && options.length > 0) return options;
  return rule == null ? [] : [{ id: "", title: "This", rule, example: "", note: "" }];
}

type Props = {
  /** Where a way writes more than one rule, all of them. */
  rulesOf?: (option: AlwaysOption) => readonly Rule[];
  options: readonly AlwaysOption[];
  chosen: number;
  name: string;
  disabled: boolean;
  onChoose: (place: number) => void;
  onAllow: () => void;
  onCancel: () => void;
};

export function Always({
  options,
  chosen,
  name,
  disabled,
  onChoose,
  onAllow,
  onCancel,
  rulesOf = ({ rule }) => [rule],
}: Props) {
  return (
    <fieldset class="always" ref={inView}>
      <legend class="vh">What to always allow</legend>
      <div class="hd" aria-hidden="true">
        <span>What to allow, and the rule it adds</span>
        <span>Also allows</span>
      </div>
      {options.map((option, place) => (
        <label key={option.id} class={place === chosen ? "on" : undefined}>
          <input
            type="radio"
            name={name}
            checked={place === chosen}
            disabled={disabled}
            onChange={() => onChoose(place)}
          />
          <span>
            <b>{visible(option.title)}</b>
            {rulesOf(option).map((rule) => (
              <code key={JSON.stringify(rule)}>{writes(rule, option.until)}</code>
            ))}
          </span>
          <span class="also-too">
            <span class="also">Also allows </span>
            {option.example ? (
              <>
                <code>{visibleWhole(option.example)}</code>
                {option.note && <small>{visible(option.note)}</small>}
              </>
            ) : (
              "Nothing else"
            )}
          </span>
        </label>
      ))}
      <div class="foot">
        <Decide needs="own" class="btn sm" disabled={disabled} onClick={onAllow}>
          Always allow
        </Decide>
        <button type="button" class="btn ghost sm" onClick={onCancel}>
          Cancel
        </button>
        <span class="grow" />
        {options[chosen]?.until != null ? (
          <span>This rule ends with the {RULED[options[chosen].until]}.</span>
        ) : (
          <span>
            Change it later in <a href="/settings.html#rules">Settings › Rules</a>
          </span>
        )}
      </div>
    </fieldset>
  );
}

/** Once: who opens it wants to see all of it. */
const inView = (element: HTMLElement | null) => {
  if (element === null || element.dataset.seen !== undefined) return;
  element.dataset.seen = "";
  element.scrollIntoView({ block: "nearest" });
};

const writes = (rule: Rule, until: AlwaysOption["until"]): string =>
  until == null ? ruleInWords(rule) : `${ruleInWords(rule)}, in this ${RULED[until]}`;

const RULED = { session: "session", "task-run": "task run" } as const;
